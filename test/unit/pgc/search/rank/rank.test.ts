import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ShardIndex } from '../../../../../src/pgc/format/shard-index.js';
import { fieldOf } from '../../../../../src/pgc/format/fields.js';
import { analyse } from '../../../../../src/pgc/search/question/question.js';
import { featureNames, type FeatureName } from '../../../../../src/pgc/search/rank/features.js';
import { Meaning } from '../../../../../src/pgc/search/rank/meaning.js';
import { Neighbours } from '../../../../../src/pgc/search/rank/neighbours.js';
import { weigh } from '../../../../../src/pgc/search/rank/weighing.js';
import { WordScores } from '../../../../../src/pgc/search/rank/word-scores.js';
import type { Shard } from '../../../../../src/pgc/serve/shard.js';
import { indexedTree, type IndexedTree } from '../../../../support/indexed-tree.js';

const files = {
  'lib/retry.ts': `import { pause } from './pause.js';

/** Tries a request again after a failure, with a longer delay each time. */
export function retryRequest(attempts: number): void {
  for (let attempt = 0; attempt < attempts; attempt += 1) pause(2 ** attempt);
}

export function startJob(): void {
  retryRequest(3);
}
`,
  'lib/pause.ts': `export function pause(ms: number): void {
  stamp(ms);
}

function stamp(ms: number): number {
  return ms;
}
`,
  'lib/colour.ts': `/** Paints a pixel of the canvas. */
export function paintPixel(canvas: number[], colour: number): void {
  canvas.push(colour);
}

export const limit = 3;
`,
  'wire/frame.rs': `/// Joins the pieces of a frame.
pub fn join_frame(pieces: &[u8]) -> u32 { pieces.len() as u32 }

#[cfg(test)]
mod tests {
    #[test]
    fn joins_the_pieces_of_a_frame() { assert_eq!(super::join_frame(&[1]), 1); }
}
`,
  'lib/easel/canvas-brush.ts': `export class CanvasBrush {
  drawLine(): void {}
}

export function tidyUp(): void {}
`,
  'none/limits.ts': 'export const depth = 3;\n',
};

let tree: IndexedTree;
let lib: Shard;
let index: ShardIndex;

beforeAll(async () => {
  tree = await indexedTree(files, ['lib', 'none', 'wire']);
  lib = shardOf('lib');
  index = lib.index;
});
afterAll(() => tree[Symbol.asyncDispose]());

function shardOf(alias: string): Shard {
  const shard = tree.shards.find((each) => each.index.info.alias === alias);
  if (shard === undefined) throw new Error(`no shard ${alias}`);
  return shard;
}

function symbolOf(name: string): number {
  const [symbol] = index.symbolsNamed(name);
  if (symbol === undefined) throw new Error(`no symbol ${name}`);
  return symbol;
}

const nameOf = (symbol: number): string => index.symbol(symbol).name;

function rowOf(text: string, name: string): Record<FeatureName, number> {
  const found = lib.search.featured(analyse(text));
  const { row } = found.find(({ document }) => document === symbolOf(name)) ?? {};
  if (row === undefined) throw new Error(`${name} was not found`);
  return Object.fromEntries(featureNames.map((each, at) => [each, row[at]])) as never;
}

test('scores of words are shares, of one question at a time', () => {
  const question = analyse('How is a request tried again after a delay?');
  const words = new WordScores(index, {
    count: index.fileCount,
    of: (document) => index.fileOf(document),
    members: (file) => index.symbolsOf(file),
  });
  const weighing = weigh([index], question);
  const read = (): unknown =>
    [...words.read(question, weighing)].sort().map((each) => [each, words.match(each)]);
  const first = read();
  words.read(analyse('Who paints a pixel?'), weigh([index], analyse('Who paints a pixel?')));
  expect(read()).toEqual(first);
  const { held, ...shares } = words.match(symbolOf('retryRequest'));
  expect(held).toBe(3);
  for (const share of Object.values(shares)) {
    expect(share).toBeGreaterThan(0);
    expect(share).toBeLessThanOrEqual(1);
  }
  expect(words.attained(symbolOf('paintPixel'))).toBe(0);
  words.forget();
  expect(words.attained(symbolOf('retryRequest'))).toBe(0);
});

test('words of the path are not in the body', () => {
  const question = analyse('pause');
  const words = new WordScores(index, { count: 1, of: () => 0, members: () => [0] });
  const weighing = weigh([index], question);
  words.read(question, weighing);
  const [retry, stamp] = [symbolOf('retryRequest'), symbolOf('stamp')];
  const inBody = words.inField(fieldOf.body, question, weighing, [retry, stamp]);
  expect([inBody.get(retry)! > 0, inBody.get(stamp)]).toEqual([true, 0]);
  const inPath = words.inField(fieldOf.path, question, weighing, [retry, stamp]);
  expect([inPath.get(retry), inPath.get(stamp)! > 0]).toEqual([0, true]);
});

test('a walk keeps its whole mass, and reaches what the best call and what calls them', () => {
  const all = Array.from({ length: index.symbolCount }, (_, symbol) => symbol);
  const graph = new Neighbours(index, all);
  const walk = graph.walk(new Map([[symbolOf('retryRequest'), 1]]));
  expect([...walk.keys()].map(nameOf).sort()).toEqual(
    expect.arrayContaining(['pause', 'retryRequest', 'stamp', 'startJob']),
  );
  expect([...walk.keys()].map(nameOf)).not.toContain('paintPixel');
  expect([...walk.values()].reduce((sum, each) => sum + each, 0)).toBeCloseTo(1);
  expect(graph.callers(symbolOf('pause')).map(({ document }) => nameOf(document))).toEqual([
    'retryRequest',
  ]);
  expect(graph.walk(new Map()).size).toBe(0);
});

test('the ranking knows of a hit what calls it, and whether it is a method', () => {
  const text = 'How is a request tried again?';
  const calls = Math.fround(Math.log1p(1));
  expect(rowOf(text, 'retryRequest')).toMatchObject({ is_method: 0, callees: calls });
  expect(rowOf('Who draws?', 'drawLine')).toMatchObject({ is_method: 1, callees: 0 });
  const { words, called, walk } = rowOf(text, 'pause');
  expect(words).toBe(0);
  expect(called).toBeGreaterThan(0);
  expect(walk).toBeGreaterThan(0);
});

test('what a function is about is near a question without its words', () => {
  const meaning = new Meaning(index, analyse('exponential backoff'));
  expect(meaning.nearest(1).map(nameOf)).toEqual(['retryRequest']);
  expect(meaning.of(symbolOf('retryRequest'))).toBeGreaterThan(meaning.of(symbolOf('paintPixel')));
  expect(meaning.of(symbolOf('limit'))).toBe(0);
});

test('what the question says of the names of file, folders and class is a share of their parts', () => {
  const asked = rowOf('draw with a canvas', 'drawLine');
  expect(asked).toMatchObject({ file_name: 0.5, scope: 0.5, folders: 0 });
  expect(rowOf('the easel brush draws', 'drawLine')).toMatchObject({
    file_name: 0.5,
    folders: 0.5,
  });
  expect(rowOf('draw with a canvas brush', 'tidyUp')).toMatchObject({ file_name: 1, scope: 0 });
});

test('a function shares what its file is about', () => {
  const text = 'exponential backoff of a job';
  const [retry, start] = [rowOf(text, 'retryRequest'), rowOf(text, 'startJob')];
  expect(start.file_meaning).toBe(retry.file_meaning);
  expect(start.file_meaning).toBe(Math.max(start.meaning, retry.meaning));
  expect(start.file_symbols).toBe(Math.fround(Math.log1p(2)));
});

test('words without a vector are near nothing, and a shard without functions has nothing near', () => {
  const unknown = new Meaning(index, analyse('qzxwv jjkqq'));
  expect(unknown.nearest(60)).toEqual([]);
  expect(unknown.mean([{ document: symbolOf('pause'), share: 1 }])).toBe(0);
  const bare = shardOf('none');
  expect(new Meaning(bare.index, analyse('exponential backoff')).nearest(60)).toEqual([]);
  expect(bare.search.featured(analyse('exponential backoff'))).toEqual([]);
});

test.each(['缓存怎么失效', '？？', 'qzxwv jjkqq'])(
  '%s finds nothing where nothing has its words',
  async (text) => {
    const answer = await lib.ask({ question: text, overlays: [], top_k: 5 });
    expect(answer.evidence).toEqual([]);
  },
);

test('a test in a source file comes behind the code, says its role, and is left out where sources are asked for', async () => {
  const wire = shardOf('wire');
  const question = 'How does it join the pieces of a frame?';
  const { evidence } = await wire.ask({ question, overlays: [], top_k: 5 });
  const told = evidence.map(({ symbol, role }) => `${symbol} ${role}`);
  expect(told[0]).toBe('join_frame ');
  expect(told).toContain('joins_the_pieces_of_a_frame test');
  const sources = await wire.ask({ question, overlays: [], top_k: 5, roles: ['source'] });
  expect(sources.evidence.map(({ role }) => role)).not.toContain('test');
  expect((await wire.callers(['join_frame'])).map(({ role }) => role)).toEqual(['test']);
});

test('a long question is answered as surely as any', async () => {
  const question = `How is a request tried again? ${'delay failure 缓存 '.repeat(700)}`;
  const { evidence } = await lib.ask({ question, overlays: [], top_k: 5 });
  for (const { similarity } of evidence) expect(similarity).toBeLessThan(1);
  expect(evidence[0]?.symbol).toBe('retryRequest');
});
