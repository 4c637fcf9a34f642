import { blobId } from '../../pgc/source/blob.js';
import type { Ground } from '../ground.js';
import { criticLimits, type Artifact, type Evidence } from '../shapes.js';

/** Lines of one piece of evidence. */
const linesMax = 8;

/** A place in the tree. */
export interface CodePlace {
  path: string;
  line: number;
  line_end?: number;
  symbol?: string;
}

/** Quotes the tree as it stands; each file is read once. Without a ground there is nothing to quote. */
export class Quotes {
  readonly #texts = new Map<string, Promise<string | undefined>>();

  /** Lines of the artifact's own path are those of its text, which need not be that of the tree. */
  constructor(
    readonly ground: Ground | undefined,
    readonly artifact: Artifact,
  ) {}

  /** Undefined: there are no such lines. */
  async at(
    path: string,
    line_start: number,
    line_end = line_start,
    symbol = '',
  ): Promise<Evidence | undefined> {
    const text = await this.#text(path);
    if (text === undefined || line_start < 1) return undefined;
    const lines = text.split('\n');
    if (path === this.artifact.path && text !== this.artifact.text) {
      const its = this.artifact.text.split('\n')[line_start - 1] ?? '';
      const at = its.trim() === '' ? -1 : lines.indexOf(its);
      if (at < 0 || lines.includes(its, at + 1)) return undefined;
      line_start = line_end = at + 1;
    }
    return quotedLines({ path, text, lines, line_start, line_end, symbol });
  }

  /** Those of them that can be quoted, at most as many as a finding may have. */
  async all(places: readonly CodePlace[]): Promise<Evidence[]> {
    const found: Evidence[] = [];
    for (const { path, line, line_end, symbol } of places.slice(0, criticLimits.evidence)) {
      const evidence = await this.at(path, line, line_end ?? line, symbol ?? '');
      if (evidence !== undefined) found.push(evidence);
    }
    return found;
  }

  /** The same of lines as the tree has them, also of the artifact's own path, or as `others` have them. */
  async ofTree(
    places: readonly CodePlace[],
    others: Readonly<Record<string, string>> = {},
  ): Promise<Evidence[]> {
    const found: Evidence[] = [];
    for (const { path, line, line_end = line, symbol = '' } of places) {
      const text = Object.hasOwn(others, path) ? others[path] : await this.#text(path);
      if (text === undefined || line < 1) continue;
      const evidence = quotedLines({ path, text, line_start: line, line_end, symbol });
      if (evidence !== undefined) found.push(evidence);
    }
    return found.slice(0, criticLimits.evidence);
  }

  #text(path: string): Promise<string | undefined> {
    const { ground } = this;
    if (ground === undefined) return Promise.resolve(undefined);
    let text = this.#texts.get(path);
    if (text === undefined) this.#texts.set(path, (text = ground.read(path)));
    return text;
  }
}

interface Quoted {
  path: string;
  text: string;
  lines?: readonly string[];
  line_start: number;
  line_end?: number;
  symbol?: string;
}

/** Undefined: the text has no such lines, or they are blank. */
export function quotedLines({
  path,
  text,
  lines = text.split('\n'),
  line_start,
  line_end = line_start,
  symbol = '',
}: Quoted): Evidence | undefined {
  let end = Math.min(line_end, line_start + linesMax - 1, lines.length);
  const said = (): string =>
    lines
      .slice(line_start - 1, end)
      .join('\n')
      .replace(/\r/g, '');
  while (end > line_start && said().length > criticLimits.contentChars) end -= 1;
  const content = said().slice(0, criticLimits.contentChars);
  if (content.trim() === '') return undefined;
  return { file_path: path, line_start, line_end: end, content, blob: blobOf(text), symbol };
}

/** Empty where the bytes are no UTF-8: what was read is not what the blob holds. */
function blobOf(text: string): string {
  return text.includes('\ufffd') ? '' : blobId(Buffer.from(text));
}

/** A place as people write it. */
export function placed(path: string, line: number): string {
  return `\`${path}:${line}\``;
}
