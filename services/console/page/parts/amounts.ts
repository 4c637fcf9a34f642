const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `3.4 MiB` */
export function bytesText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

/** `12 345` */
export function countText(count: number): string {
  return Math.round(count).toLocaleString('en').replaceAll(',', '\u202f');
}

/** `1 letter`, `12 letters`. */
export function counted(count: number, what: string): string {
  return `${countText(count)} ${what}${count === 1 ? '' : 's'}`;
}

/** The beginning of a text, and whether there is more. */
export function beginning(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`;
}
