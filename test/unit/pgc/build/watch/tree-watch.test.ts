import { execFile, execFileSync } from 'node:child_process';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { BusError } from '../../../../../src/errors/bus-error.js';
import { TreeWatch } from '../../../../../src/pgc/build/watch/tree-watch.js';
import { compiled } from '../../../../support/compiled.js';
import { eventually } from '../../../../support/eventually.js';
import { TemporaryTree } from '../../../../support/git-tree.js';
import { VirtualClock } from '../../../../support/virtual-clock.js';

/** Longer than between two looks at the tree, and at HEAD. */
const lookMs = 2_000;

/** A tree that is looked through when the test says so. */
async function looking(root: string, kind?: 'poll') {
  const clock = new VirtualClock();
  const told: (string[] | undefined)[] = [];
  const warnings: BusError[] = [];
  const watch = await TreeWatch.open({
    ...{ root, clock, ...(kind === undefined ? {} : { kind }) },
    onChange: (paths) => told.push(paths?.toSorted()),
    onWarning: (warning) => warnings.push(warning),
  });
  // Both the tree and HEAD have been looked at once, and wait for the next time.
  const look = async (): Promise<void> => {
    await eventually(() => expect(clock.waiting).toBe(2));
    await clock.advance(lookMs);
    await eventually(() => expect(clock.waiting).toBe(2));
  };
  await eventually(() => expect(clock.waiting).toBe(2));
  return { watch, look, told, warnings, clock };
}

describe('where the tree is looked through', () => {
  test('what was written, added, moved and removed is told by its path, once', async () => {
    await using tree = await TemporaryTree.create({
      'mm/a.c': 'int a;\n',
      'mm/b.c': 'int b;\n',
      'mm/c.c': 'int c;\n',
      'old/d.c': 'int d;\n',
    });
    const { watch, look, told, warnings } = await looking(tree.root, 'poll');
    await using _ = watch;
    expect(watch.kind).toBe('poll');
    await look();
    expect(told).toEqual([]);
    await tree.write({ 'mm/a.c': 'int a = 1;\n', 'mm/e.c': 'int e;\n' });
    await rm(join(tree.root, 'mm/b.c'));
    await rename(join(tree.root, 'old'), join(tree.root, 'new'));
    await look();
    expect(told).toEqual([['mm/a.c', 'mm/b.c', 'mm/e.c', 'new/d.c', 'old/d.c']]);
    await look();
    expect([told.length, warnings]).toEqual([1, []]);
  });

  test('what changes as soon as it is watched is told', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': 'int a;\n' });
    tree.commit('first');
    const clock = new VirtualClock();
    const told: (string[] | undefined)[] = [];
    await using _ = await TreeWatch.open({
      ...{ root: tree.root, clock, kind: 'poll' },
      onChange: (paths) => told.push(paths),
      onWarning: () => undefined,
    });
    await tree.write({ 'a.c': 'int a = 1;\n' });
    tree.commit('second');
    await eventually(() => expect(clock.waiting).toBe(2));
    await clock.advance(lookMs);
    await eventually(() => expect(clock.waiting).toBe(2));
    expect(told).toContainEqual(['a.c']);
    expect(told).toContainEqual(undefined);
  });

  test('what git ignores is not told, and a HEAD that moves is', async () => {
    await using tree = await TemporaryTree.create({
      '.gitignore': 'out/\n',
      'a.c': 'int a;\n',
    });
    tree.commit('first');
    const { watch, look, told } = await looking(tree.root, 'poll');
    await using _ = watch;
    await tree.write({ 'out/made.c': 'int made;\n' });
    await look();
    expect(told).toEqual([]);
    await tree.write({ 'a.c': 'int a = 1;\n' });
    tree.commit('second');
    await look();
    expect(told).toContainEqual(['a.c']);
    expect(told).toContainEqual(undefined);
  });

  test('a tree that is gone, and one that is back, are told once each', async () => {
    await using tree = await TemporaryTree.create({ 'sub/a.c': 'int a;\n' });
    const root = join(tree.root, 'sub');
    const { watch, look, told } = await looking(root, 'poll');
    await using _ = watch;
    await rm(root, { recursive: true });
    await look();
    await look();
    expect(told).toEqual([undefined]);
    await mkdir(root);
    await writeFile(join(root, 'a.c'), 'int a;\n');
    await look();
    await look();
    expect(told).toEqual([undefined, undefined]);
  });

  test('after it is closed nothing is looked at', async () => {
    await using tree = await TemporaryTree.create({ 'a.c': 'int a;\n' });
    const { watch, told, clock } = await looking(tree.root, 'poll');
    await watch[Symbol.asyncDispose]();
    await tree.write({ 'a.c': 'int a = 1;\n' });
    await clock.advance(lookMs * 10);
    expect([told, clock.waiting]).toEqual([[], 0]);
  });
});

describe('where the system cannot tell', () => {
  test('that is said, and the tree is looked through', async () => {
    await using tree = await TemporaryTree.create();
    const root = join(tree.root, 'not-yet');
    const { watch, look, told, warnings } = await looking(root);
    await using _ = watch;
    expect(warnings.map(({ code, data }) => [code, data.path])).toEqual([['WATCH_LIMITED', root]]);
    expect(watch.kind).toBe('poll');
    await mkdir(root);
    await writeFile(join(root, 'a.c'), 'int a;\n');
    await look();
    expect(told).toEqual([undefined]);
    await writeFile(join(root, 'a.c'), 'int a = 1;\n');
    await look();
    expect(told).toEqual([undefined, ['a.c']]);
  });

  /** A namespace of users has a limit of its own, so that that of the machine stays as it is. */
  const limited = 'echo 3 > /proc/sys/user/max_inotify_watches && exec "$@"';
  const canLimit = ((): boolean => {
    try {
      execFileSync('unshare', ['-Ur', 'sh', '-c', limited, 'sh', 'true'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  })();

  test.runIf(canLimit)('for it has too few watches, the limit is named', async () => {
    await using tree = await TemporaryTree.create(
      Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`deep${at}/a.c`, 'int a;\n'])),
    );
    const script = `
      const { TreeWatch } = await import(${JSON.stringify(compiled('src/pgc/build/watch/tree-watch.ts').href)});
      const clock = {
        monotonicMs: () => performance.now(),
        after: (ms, fn) => { const timer = setTimeout(fn, ms); return { [Symbol.dispose]: () => clearTimeout(timer) }; },
      };
      const warnings = [];
      const watch = await TreeWatch.open({
        root: ${JSON.stringify(tree.root)}, clock, onChange: () => undefined,
        onWarning: ({ code, data }) => warnings.push({ code, data }),
      });
      console.log(JSON.stringify({ kind: watch.kind, warnings }));
      process.exit(0);`;
    const node = [process.execPath, '--input-type=module', '-e', script];
    const command = ['-Ur', 'sh', '-c', limited, 'sh', ...node];
    const { stdout } = await promisify(execFile)('unshare', command);
    expect(JSON.parse(stdout)).toEqual({
      kind: 'poll',
      warnings: [
        {
          code: 'WATCH_LIMITED',
          data: { path: tree.root, detail: 'fs.inotify.max_user_watches is too low for it' },
        },
      ],
    });
  });
});
