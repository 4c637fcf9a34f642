import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codec, scip } from '../../src/wire/codec.js';

/** One occurrence: where `name` stands for the `nth` time on a line of the text. */
export interface Said {
  line: number;
  name: string;
  symbol: string;
  isDefinition?: true;
  nth?: number;
}

export interface SaidDocument {
  path: string;
  text: string;
  occurrences: readonly Said[];
  /** Symbol, and what it implements. */
  implementations?: readonly [string, string][];
}

/** A symbol of a package called `tree`, by its descriptors. */
export function ours(descriptors: string): string {
  return `test npm tree 1.0.0 ${descriptors}`;
}

/** A SCIP index as a tool would write it. */
export function scipIndex(root: string, documents: readonly SaidDocument[]): Buffer {
  return codec(scip.Index).encode({
    metadata: { tool_info: { name: 'test', version: '1' }, project_root: `file://${root}` },
    documents: documents.map(({ path, text, occurrences, implementations = [] }) => ({
      relative_path: path,
      occurrences: occurrences.map((each) => occurrence(text, each)),
      symbols: implementations.map(([symbol, what]) => ({
        symbol,
        relationships: [{ symbol: what, is_implementation: true }],
      })),
    })),
  });
}

export async function writeScipIndex(
  folder: string,
  root: string,
  documents: readonly SaidDocument[],
): Promise<string> {
  const path = join(folder, 'index.scip');
  await writeFile(path, scipIndex(root, documents));
  return path;
}

function occurrence(text: string, { line, name, symbol, isDefinition, nth = 1 }: Said): object {
  const row = text.split('\n')[line - 1] ?? '';
  let at = -1;
  for (let count = 0; count < nth; count += 1) at = row.indexOf(name, at + 1);
  if (at < 0) throw new Error(`line ${line} has no ${name}`);
  const range = [line - 1, at, at + name.length];
  return { range, symbol, symbol_roles: isDefinition === true ? 1 : 0 };
}
