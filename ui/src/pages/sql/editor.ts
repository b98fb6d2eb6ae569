// The SQL editor: CodeMirror with completion from the schema, highlighting and the place of a mistake.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { sql, SQLite } from "@codemirror/lang-sql";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { SchemaReply } from "../../api_types";
import type { Place } from "./error_place";

export interface EditorOptions {
  text: string;
  label: string;
  onChange(text: string): void;
  onRun(text: string): void;
}

/** Colours are the app's variables, so the editor follows the theme. */
/**
 * Text typed over a selection. Left to the browser it would put the style of the text before into the page as an attribute, which the content
 * security policy refuses with an error.
 */
const kTypeOver = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== "insertText" || !event.data || view.composing || view.state.selection.main.empty) return false;
    view.dispatch(view.state.update(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true }));
    return true;
  },
});

const kLook = EditorView.theme({
  "&": { fontSize: "13px", height: "100%", color: "var(--ink)", backgroundColor: "var(--panel)" },
  ".cm-content": { fontFamily: "var(--mono)", caretColor: "var(--ink)", padding: "6px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--ground)", color: "var(--muted)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": {
    backgroundColor: "color-mix(in srgb, var(--accent-soft) 45%, transparent)",
  },
  "&.cm-focused": { outline: "none" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line-strong)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-diagnostic": { fontFamily: "inherit", padding: "3px 8px", maxWidth: "60ch", whiteSpace: "pre-wrap" },
});

const kColors = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: tags.typeName, color: "var(--accent)" },
]);

/** Names with other characters than letters need quotes. */
const quoted = (name: string) => (/^[a-z_]\w*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`);

function language(schema: SchemaReply | null) {
  const tables = (schema?.tables ?? []).map((table) => {
    const columns = table.columns.map(({ name, type, doc }) => ({
      label: name,
      apply: quoted(name),
      detail: type,
      info: doc,
      type: "property",
    }));
    return [
      quoted(table.name),
      { self: { label: table.name, detail: table.kind, info: table.doc, type: "type" }, children: columns },
    ];
  });
  return sql({ dialect: SQLite, schema: Object.fromEntries(tables), upperCaseKeywords: true });
}

export class SqlEditor {
  private readonly view: EditorView;
  private readonly dialect = new Compartment();

  constructor(host: HTMLElement, options: EditorOptions) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const run = (view: EditorView) => (options.onRun(view.state.doc.toString()), true);
    const state = EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        autocompletion({ icons: false }),
        highlightActiveLine(),
        kLook,
        syntaxHighlighting(kColors),
        this.dialect.of(language(null)),
        EditorView.lineWrapping,
        kTypeOver,
        EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false" }),
        EditorView.updateListener.of((update) => update.docChanged && options.onChange(update.state.doc.toString())),
        keymap.of([
          { key: "Mod-Enter", run },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
      ],
    });
    this.view = new EditorView({ state, parent: root, root });
  }

  close(): void {
    this.view.destroy();
  }

  setSchema(schema: SchemaReply): void {
    this.view.dispatch({ effects: this.dialect.reconfigure(language(schema)) });
  }

  setText(text: string): void {
    const { doc } = this.view.state;
    if (doc.toString() !== text) this.view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
  }

  /** Underlines a mistake; null takes the line away. */
  showError(place: Place | null, message: string): void {
    const marks: Diagnostic[] = place ? [{ ...place, severity: "error", message }] : [];
    this.view.dispatch(setDiagnostics(this.view.state, marks));
    if (place) this.view.dispatch({ selection: { anchor: place.from }, scrollIntoView: true });
  }
}
