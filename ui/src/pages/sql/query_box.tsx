// The text of a query: a plain box until the editor is loaded, and where it cannot be.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../api";
import type { SchemaReply } from "../../api_types";
import { t } from "../../i18n";
import type { SqlEditor } from "./editor";
import { errorPlace } from "./error_place";

export interface QueryBoxProps {
  text: string;
  /** Grows when `text` was not typed but chosen elsewhere: the editor takes it over. */
  chosen: number;
  schema: SchemaReply | null;
  /** What the last run said about `text`; null = nothing wrong. */
  error: unknown;
  onChange(text: string): void;
  onRun(text: string): void;
}

function PlainBox({ text, onChange, onRun }: QueryBoxProps) {
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onRun(text);
  };
  return (
    <textarea
      class="sql-text mono"
      spellcheck={false}
      aria-label={t("sql.query")}
      rows={8}
      value={text}
      onInput={(event) => onChange(event.currentTarget.value)}
      onKeyDown={onKey}
    />
  );
}

export function QueryBox(props: QueryBoxProps) {
  const { chosen, schema, error } = props;
  const host = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<SqlEditor | null>(null);
  // The editor outlives renderings; it has to see the handlers of the latest one.
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    let made: SqlEditor | null = null;
    let closed = false;
    import("./editor").then(
      ({ SqlEditor: Editor }) => {
        if (closed || !host.current) return;
        made = new Editor(host.current, {
          text: latest.current.text,
          label: t("sql.query"),
          onChange: (changed) => latest.current.onChange(changed),
          onRun: (query) => latest.current.onRun(query),
        });
        setEditor(made);
      },
      () => undefined, // The plain box stays.
    );
    return () => {
      closed = true;
      made?.close();
    };
  }, []);
  // Not `text`: a rendering may come later than the next key and would take it back.
  useEffect(() => editor?.setText(latest.current.text), [editor, chosen]);
  useEffect(() => {
    if (editor && schema) editor.setSchema(schema);
  }, [editor, schema]);
  useEffect(() => {
    const message = error instanceof ApiError ? error.message : "";
    editor?.showError(message ? errorPlace(message, latest.current.text) : null, message.split("\n")[0] ?? "");
  }, [editor, error]);
  return (
    <>
      <div ref={host} class="sql-editor" hidden={editor === null} />
      {editor === null && <PlainBox {...props} />}
    </>
  );
}
