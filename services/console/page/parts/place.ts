import { linkTo } from '../address.js';

/** `path:line` or `path:line-line`. */
export function placeText(path: string, from: number, to = from): string {
  return to > from ? `${path}:${from}-${to}` : `${path}:${from}`;
}

export function splitPlace(place: string): { path: string; line: number } {
  const at = place.lastIndexOf(':');
  const line = Number(place.slice(at + 1));
  return at < 1 || !Number.isInteger(line)
    ? { path: place, line: 0 }
    : { path: place.slice(0, at), line };
}

/** The page of what is defined at a place, or of a name where its place is not known. */
export function symbolLink(name: string): string {
  return linkTo('symbol', [], { id: name });
}

/** How a symbol is named so that it is the only one: `path#Container.name`. */
export function symbolName(its: { file_path: string; container: string; symbol: string }): string {
  const { file_path: path, container, symbol } = its;
  return `${path}#${container === '' ? '' : `${container}.`}${symbol}`;
}

/** For a report or a review: the place, what stands there, and its lines. */
export function citationText(its: {
  place: string;
  subject: string;
  lines: readonly { line: number; text: string }[];
  blob?: string;
}): string {
  const { place, subject, lines, blob = '' } = its;
  const version = blob === '' ? '' : ` (blob ${blob.slice(0, 12)})`;
  const head = `${place} ${subject}${version}`.trim();
  if (lines.length === 0) return head;
  const width = String(lines.at(-1)?.line ?? 0).length;
  const rows = lines.flatMap(({ line, text }, at) => {
    const isGap = at > 0 && line > (lines[at - 1]?.line ?? 0) + 1;
    return [
      ...(isGap ? [`${' '.repeat(width)}  …`] : []),
      `${String(line).padStart(width)}  ${text}`,
    ];
  });
  // A fence that none of the lines can close.
  const runs = rows.flatMap((row) => row.match(/`+/g) ?? []).map(({ length }) => length);
  const fence = '`'.repeat(Math.max(3, ...runs.map((run) => run + 1)));
  return [head, '', fence, ...rows, fence].join('\n');
}

export const editors = ['none', 'vscode', 'jetbrains'] as const;
export type Editor = (typeof editors)[number];

/** Opens a file on the machine of the browser, where the tree must be at the same place. Undefined: no editor, or no place. */
export function editorLink(
  editor: Editor,
  { root, path, line }: { root: string; path: string; line: number },
): string | undefined {
  if (editor === 'none' || root === '' || path.split('/').includes('..')) return undefined;
  const file = `${root.replace(/\/$/, '')}/${path}`;
  if (editor === 'vscode')
    return `vscode://file${encodeURI(file).replace(/[?#]/g, encodeURIComponent)}:${line}`;
  const project = root.split('/').filter(Boolean).at(-1) ?? '';
  const query = new URLSearchParams({ project, path: `${path}:${line}` });
  return `jetbrains://idea/navigate/reference?${query.toString()}`;
}
