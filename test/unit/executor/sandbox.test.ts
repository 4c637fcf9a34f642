import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assertOutside, present, walled, wallsIn, wallsOf } from '../../../src/executor/sandbox.js';
import { temporaryFolder } from '../../support/temporary.js';

const stage = temporaryFolder();
let base: string;
beforeAll(() => {
  base = realpathSync(stage.path);
  for (const each of ['home/run', 'sockets', 'root', 'keys'])
    mkdirSync(path.join(base, each), { recursive: true });
  writeFileSync(path.join(base, 'id.json'), '{}');
});
afterAll(stage.remove);
const at = (...names: string[]): string => path.join(base, ...names);
const none = { listen: [], identity: undefined };

test('a command is started in namespaces of its own, with nothing that could leave them', () => {
  const command = walled(['program', '$(rm)', '--'], { folders: ['/a b', '/c"d'], files: ['/e'] });
  expect(command.slice(0, 9)).toEqual([
    ...['unshare', '--user', '--map-current-user', '--keep-caps', '--mount'],
    ...['--pid', '--fork', '--kill-child', '--'],
  ]);
  const [, , script, , ...words] = command.slice(9);
  // No path is part of what the shell reads as a program.
  for (const each of ['/a b', '/c"d', '/e', 'rm']) expect(script).not.toContain(each);
  expect(words).toEqual([
    ...['2', '/a b', '/c"d', '1', '/e', 'setpriv', '--no-new-privs', '--inh-caps=-all'],
    ...['--ambient-caps=-all', '--bounding-set=-all', '--', 'program', '$(rm)', '--'],
  ]);
});

test('covered are the home, the folders of all sockets, the session of the user, and the identity', () => {
  const bus = `ipc://${at('sockets/bus.sock')}`;
  const config = {
    home: at('home'),
    bus,
    listen: [`ipc://${at('more/x.sock')}`, 'tcp://*:7'],
    identity: at('keys'),
  };
  expect(wallsOf(config, 7)).toEqual({
    folders: [
      ...[at('home'), at('sockets'), at('more'), '/run/user/7', '/tmp/tmux-7', '/run/screen'],
      at('keys'),
    ],
    files: [],
  });
  const own = { home: at('home'), bus: `ipc://${at('home/run/bus.sock')}`, listen: [] };
  expect(wallsOf({ ...own, identity: at('id.json') }, 7)).toEqual({
    folders: [at('home'), '/run/user/7', '/tmp/tmux-7', '/run/screen'],
    files: [at('id.json')],
  });
});

test('a link is followed to what it names', () => {
  symlinkSync(at('home'), at('link'));
  const { folders } = wallsOf({ ...none, home: at('link'), bus: `ipc://${at('link/run/b')}` }, 7);
  expect(folders[0]).toBe(at('home'));
  expect(folders).toHaveLength(4);
});

test('a root in what is covered is refused; one around it is not', () => {
  const walls = wallsOf({ ...none, home: at('home'), bus: `ipc://${at('sockets/b')}` }, 7);
  for (const root of ['home', 'home/place', 'sockets', 'link/place'])
    expect(() => assertOutside(at(root), walls)).toThrow(
      expect.objectContaining({ code: 'SANDBOX_ROOT' }) as Error,
    );
  for (const root of ['root', '', 'home-2'])
    expect(() => assertOutside(at(root), walls)).not.toThrow();
});

test('what is not there is not covered', () => {
  const walls = {
    folders: [at('home'), at('nowhere'), at('id.json')],
    files: [at('id.json'), at('no')],
  };
  expect(present(walls)).toEqual({ folders: [at('home')], files: [at('id.json')] });
});

test('where there is none no program is run, unless the operator says so', () => {
  expect(() => wallsIn({ kind: 'missing', detail: 'no namespaces' })).toThrow(
    expect.objectContaining({ code: 'SANDBOX_UNAVAILABLE' }) as Error,
  );
  expect(wallsIn({ kind: 'off' })).toBeUndefined();
});
