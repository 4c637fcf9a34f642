import { execFileSync } from 'node:child_process';
import { blobId } from './blob.js';
import { ConfinedReader } from './confined-reader.js';
import { gitEnvironment, safeGit } from './git/run-git.js';
import { contentMax } from '../shapes.js';
import { fileBytesMax } from './source-tree.js';

/** Files kept in memory. An answer cites at most ten files, a multi-hop query about sixty. */
const filesMax = 128;
const charsMax = 32 * 1024 * 1024;
const gitDeadlineMs = 5_000;

/**
 * The verbatim text of indexed files: from the work tree while the file still has the indexed content, else from git's
 * objects, else nothing. Text of another version is never returned.
 */
export class Excerpts {
  readonly #root: string;
  readonly #reader: ConfinedReader;
  /** Keyed by blob id, least recently used first. */
  readonly #texts = new Map<string, string[]>();
  #chars = 0;

  /** `realRoot`: the `root` of an opened index. */
  constructor(realRoot: string) {
    this.#root = realRoot;
    this.#reader = new ConfinedReader(realRoot, fileBytesMax);
  }

  /** Lines `from` to `to` (1-based, inclusive, clipped to the file), without their line ends. */
  lines(file: { path: string; blob: string }, from: number, to: number): string[] | undefined {
    const all = this.#linesOf(file.path, file.blob);
    return all?.slice(Math.max(from, 1) - 1, to);
  }

  /** Whole lines as far as 500 characters go; a first line that is longer is cut. */
  contentOf(path: string, blob: string, lineStart: number, lineEnd: number): string | undefined {
    const lines = this.lines({ path, blob }, lineStart, lineEnd) ?? [];
    return lines.length === 0 ? undefined : excerptOf(lines).content;
  }

  #linesOf(path: string, blob: string): string[] | undefined {
    const known = this.#texts.get(blob);
    if (known !== undefined) {
      this.#texts.delete(blob);
      this.#texts.set(blob, known);
      return known;
    }
    const bytes = this.#fromTree(path, blob) ?? this.#fromGit(blob);
    // Not cached: the file may come back, and git may work again.
    if (bytes === undefined) return undefined;
    const lines = linesOf(bytes);
    this.#texts.set(blob, lines);
    this.#chars += sizeOf(lines);
    for (const [oldest, text] of this.#texts) {
      if (this.#texts.size <= filesMax && this.#chars <= charsMax) break;
      if (oldest === blob) break;
      this.#texts.delete(oldest);
      this.#chars -= sizeOf(text);
    }
    return lines;
  }

  #fromTree(path: string, blob: string): Buffer | undefined {
    const result = this.#reader.readSync(path);
    return 'bytes' in result && blobId(result.bytes) === blob ? result.bytes : undefined;
  }

  #fromGit(blob: string): Buffer | undefined {
    if (!/^[0-9a-f]{40}$/.test(blob)) return undefined;
    try {
      const bytes = execFileSync('git', [...safeGit, 'cat-file', 'blob', blob], {
        cwd: this.#root,
        env: gitEnvironment(),
        maxBuffer: fileBytesMax,
        timeout: gitDeadlineMs,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      return blobId(bytes) === blob ? bytes : undefined;
    } catch {
      return undefined;
    }
  }
}

/**
 * The first whole lines that fit into `contentMax` characters, and their number. A longer first line is cut, never
 * inside a surrogate pair.
 */
export function excerptOf(lines: readonly string[]): { content: string; lineCount: number } {
  const first = lines[0] ?? '';
  if (first.length > contentMax) {
    const isPairSplit = /[\ud800-\udbff]/.test(first.charAt(contentMax - 1));
    return { content: first.slice(0, isPairSplit ? contentMax - 1 : contentMax), lineCount: 1 };
  }
  let content = first;
  let lineCount = Math.min(1, lines.length);
  for (let at = 1; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (content.length + 1 + line.length > contentMax) break;
    content += `\n${line}`;
    lineCount += 1;
  }
  return { content, lineCount };
}

/** Lines without their ends (`\n` or `\r\n`). Text after the last newline is a line. */
export function linesOf(bytes: Buffer): string[] {
  const lines = bytes.toString('utf8').split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}
