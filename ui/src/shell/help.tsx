// The list of keys of what is on screen.
import { t } from "../i18n";
import { commands, keyLabel } from "../state/commands";
import { info } from "../state/session";
import { openDialog } from "../widgets/dialog";

export function showHelp(): void {
  openDialog(t("help.keys"), () => (
    <div>
      <table class="plain keys">
        <tbody>
          {commands.value
            .filter((command) => command.keys.length > 0)
            .map((command) => (
              <tr key={command.id}>
                <td>{t(command.title)}</td>
                <td>
                  {command.keys.map((key) => (
                    <kbd key={key}>{keyLabel(key)}</kbd>
                  ))}
                </td>
              </tr>
            ))}
        </tbody>
      </table>
      <p class="muted">{`steplens ${info.value?.version ?? ""}`}</p>
    </div>
  ));
}
