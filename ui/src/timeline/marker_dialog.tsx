// Name, colour and note of a marker.
import { useState } from "preact/hooks";
import { t } from "../i18n";
import { closeDialog, openDialog } from "../widgets/dialog";
import type { Marker, Markers } from "./markers";

interface Props {
  marker: Marker;
  markers: Markers;
  onChange(): void;
}

function Form({ marker, markers, onChange }: Props) {
  const [name, setName] = useState(marker.name);
  const [color, setColor] = useState(marker.color);
  const [note, setNote] = useState(marker.note ?? "");
  const done = (act: () => void) => {
    act();
    closeDialog();
    onChange();
  };
  const save = (event: Event) => {
    event.preventDefault();
    done(() => markers.change(marker.id, { name: name.trim() || marker.name, color, note: note.trim() }));
  };
  return (
    <form class="column" onSubmit={save}>
      <label class="field">
        <span>{t("tl.marker.name")}</span>
        <input type="text" value={name} autofocus onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <label class="field">
        <span>{t("tl.marker.color")}</span>
        <input type="color" value={color} onInput={(event) => setColor(event.currentTarget.value)} />
      </label>
      <label class="field">
        <span>{t("tl.marker.note")}</span>
        <textarea rows={4} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
      </label>
      <div class="row end">
        <button type="button" onClick={() => done(() => markers.remove(marker.id))}>
          {t("tl.marker.remove")}
        </button>
        <span class="grow" />
        <button type="button" onClick={closeDialog}>
          {t("cancel")}
        </button>
        <button type="submit" class="primary">
          {t("ok")}
        </button>
      </div>
    </form>
  );
}

export function editMarker(marker: Marker, markers: Markers, onChange: () => void): void {
  openDialog(t("tl.marker.title"), () => <Form marker={marker} markers={markers} onChange={onChange} />);
}
