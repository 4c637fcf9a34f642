import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { artifactPlace, askedAs, treeOf } from '../../../src/remote/artifact-place.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { temporaryFolder } from '../../support/temporary.js';

const root = realpathSync(temporaryFolder().path);
const [one, two, alone] = ['one', 'two', 'alone'].map((each) => path.join(root, each)) as [
  string,
  string,
  string,
];

beforeAll(() => {
  for (const tree of [one, two]) {
    mkdirSync(path.join(tree, '.git'), { recursive: true });
    mkdirSync(path.join(tree, 'docs/governance'), { recursive: true });
    writeFileSync(path.join(tree, 'README.md'), '');
  }
  mkdirSync(path.join(alone, '.claude/rules'), { recursive: true });
  writeFileSync(path.join(alone, '.claude/rules/x.md'), '');
  symlinkSync('../../README.md', path.join(one, 'docs/governance/x.md'));
  symlinkSync(path.join(two, 'docs'), path.join(one, 'theirs'));
  symlinkSync('../../README.md', path.join(two, 'docs/governance/y.md'));
  symlinkSync('.claude/rules/x.md', path.join(alone, 'notes.md'));
  symlinkSync(one, path.join(root, 'linked'));
});

const isKnown = (): boolean => false;
const placed = (folder: string, name: string) => {
  const tree = treeOf(realpathSync(path.resolve(folder, name)), isKnown);
  return artifactPlace(name, { root: tree, folder, isKnown });
};

test.each([
  ['one', 'README.md', 'one', 'README.md', undefined],
  ['one/docs', '../README.md', 'one', 'README.md', undefined],
  ['two', '../one/README.md', 'one', 'README.md', undefined],
  ['', 'linked/README.md', 'one', 'README.md', undefined],
  // A link, in its tree and into another one, and a folder that is one.
  ['one', 'docs/governance/x.md', 'one', 'README.md', 'docs/governance/x.md'],
  ['one', 'theirs/governance/y.md', 'two', 'README.md', 'theirs/governance/y.md'],
  // In no tree the folder stands for one.
  ['alone', 'notes.md', 'alone', '.claude/rules/x.md', 'notes.md'],
  ['', 'alone/.claude/rules/x.md', '', 'alone/.claude/rules/x.md', undefined],
])('from %j, %j is of %j: %j, named %j', async (folder, name, tree, file, named) => {
  expect(await placed(path.join(root, folder), name)).toEqual({
    ...{ tree: path.join(root, tree), path: file },
    ...(named !== undefined && { named }),
  });
});

test('in no tree, and outside of the folder, it is where it is', async () => {
  expect(await placed(one, '../alone/.claude/rules/x.md')).toEqual({
    ...{ tree: '', path: path.join(alone, '.claude/rules/x.md') },
  });
});

test('a file that is there is asked about as itself alone, any other name also as it is listed', async () => {
  const asked: string[] = [];
  const never = (artifact: string): Promise<never> => {
    asked.push(artifact);
    return Promise.reject(new BusError('NO_SUCH_ARTIFACT', { artifact }));
  };
  for (const name of ['README.md', 'task/t-1'])
    await expect(askedAs(name, two, never)).rejects.toMatchObject({ code: 'NO_SUCH_ARTIFACT' });
  expect(asked).toEqual([path.join(two, 'README.md'), path.join(two, 'task/t-1'), 'task/t-1']);
});
