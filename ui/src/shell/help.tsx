// The list of keys of what is on screen; each can be given another one.
import { useState } from "preact/hooks";
import { t } from "../i18n";
import { type Command, commands, groupedCommands, keepOwnKeys, keyLabel, keyNames, keysOf, ownKeys, withKey } from "../state/commands";
import { info } from "../state/session";
import { openDialog } from "../widgets/dialog";

const kModifiers = new Set(["Shift", "Control", "Alt", "Meta"]);

interface RowProps {
  command: Command;
  /** Waits for the key that is to be its own. */
  listens: boolean;
  onListen(listens: boolean): void;
}

function KeyRow({ command, listens, onListen }: RowProps) {
  const press = (event: KeyboardEvent) => {
    if (!listens || kModifiers.has(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    onListen(false);
    if (event.key !== "Escape" && event.key !== "Tab") keepOwnKeys(withKey(ownKeys.value, commands.value, command.id, keyNames(event)[0]!));
  };
  const reset = () => keepOwnKeys(new Map([...ownKeys.value].filter(([id]) => id !== command.id)));
  return (
    <tr>
      <td>{t(command.title)}</td>
      <td>
        <button
          class="link"
          title={t("help.change")}
          aria-label={t("help.change_of", { name: t(command.title) })}
          onClick={() => onListen(true)}
          onKeyDown={press}
          onBlur={() => listens && onListen(false)}
        >
          {listens ? (
            <span class="warn">{t("help.press")}</span>
          ) : (
            keysOf(command).map((key) => <kbd key={key}>{keyLabel(key)}</kbd>)
          )}
          {!listens && keysOf(command).length === 0 && "–"}
        </button>
        {ownKeys.value.has(command.id) && (
          <button class="link" onClick={reset}>
            {t("help.reset")}
          </button>
        )}
      </td>
    </tr>
  );
}

function Keys() {
  const [listening, setListening] = useState("");
  return (
    <div>
      <p class="muted">{t("help.change")}</p>
      <table class="plain keys">
        {groupedCommands(commands.value).map(([group, members]) => (
          <tbody key={group}>
            <tr>
              <th colSpan={2} scope="rowgroup">{t(`help.group.${group}`)}</th>
            </tr>
            {members.map((command) => (
              <KeyRow key={command.id} command={command} listens={listening === command.id} onListen={(listens) => setListening(listens ? command.id : "")} />
            ))}
          </tbody>
        ))}
      </table>
      {ownKeys.value.size > 0 && <button onClick={() => keepOwnKeys(new Map())}>{t("help.reset_all")}</button>}
      <p class="muted">{`steplens ${info.value?.version ?? ""}`}</p>
    </div>
  );
}

export function showHelp(): void {
  openDialog(t("help.keys"), () => <Keys />);
}
