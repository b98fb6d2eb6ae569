// Hands a file to the browser.

export function downloadBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  downloadUrl(name, url);
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function downloadUrl(name: string, url: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}

export function downloadCanvas(name: string, canvas: HTMLCanvasElement): void {
  canvas.toBlob((blob) => {
    if (blob) downloadBlob(name, blob);
  });
}

/** A field that a spreadsheet would run as a formula gets a ' in front, which makes it a text; numbers stay as they are. */
export function guardField(text: string): string {
  return /^[=@\t\r]/.test(text) || (/^[+-]/.test(text) && !/^[+-][\d.,\s]*(e[+-]?\d+)?\s*%?$/i.test(text)) ? `'${text}` : text;
}

/** One CSV field: quoted when it has to be. */
export function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A file for spreadsheets, so its fields are guarded. */
export function toCsv(header: string[], rows: string[][]): string {
  return [header, ...rows].map((row) => row.map((field) => csvField(guardField(field))).join(",")).join("\r\n") + "\r\n";
}

/** Fields for a spreadsheet's paste; tabs and line ends inside a field become blanks. */
export function toTsv(rows: string[][]): string {
  return rows.map((row) => row.map((field) => field.replace(/[\t\r\n]+/g, " ")).join("\t")).join("\n");
}
