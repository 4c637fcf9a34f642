import { Command } from 'commander';
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi, type MockInstance } from 'vitest';
import { addSetupCommand } from '../../../services/cli/setup/setup.js';

/** Settings as people have them: comments, tabs, Windows lines, a mark of the encoding, trailing commas, no line at the end. */
const samples: Record<string, string> = {
  '.mcp.json':
    '{\n    "mcpServers": {\n        "other": { "command": "x", "args": [] }\n    }\n}\n',
  '.claude/settings.local.json': '{ "enabledPlugins": { "a@b": false }, "permissions": {} }',
  '.codex/config.toml':
    '# mine\nmodel = "m"   # the best\n\n[mcp_servers.other]\ncommand = "x"\nargs = [\n  "y", # why\n]',
  '.gemini/settings.json':
    '\ufeff{\r\n\t// mine\r\n\t"theme": "dark",\r\n\t"mcpServers": {},\r\n}\r\n',
  '.cursor/mcp.json': '',
  '.vscode/mcp.json': '{\n  /* none yet */\n  "inputs": [],\n}\n',
  'AGENTS.md': '# Rules\r\n\r\nBe kind.\r\n',
};

let folder = '';
let written: MockInstance<typeof process.stdout.write>;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sigma-setup-'));
  vi.stubEnv('HOME', path.join(folder, 'home'));
  written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(async () => {
  vi.restoreAllMocks();
  process.exitCode = 0;
  await rm(folder, { recursive: true });
});

const project = (): string => path.join(folder, 'project');

async function put(files: Record<string, string>): Promise<void> {
  await mkdir(project(), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(project(), name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

/** Every file and folder of the project. */
async function all(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of (await readdir(project(), { recursive: true })).sort()) {
    const file = path.join(project(), name);
    found[name] = (await lstat(file)).isDirectory() ? '' : await readFile(file, 'utf8');
  }
  return found;
}

interface Change {
  client: string;
  file: string;
  state: string;
  detail: string;
  diff: string;
}

async function setup(...args: string[]): Promise<Change[]> {
  const sigma = new Command().exitOverride();
  addSetupCommand(sigma);
  written.mockClear();
  const home = path.join(folder, 'state');
  await sigma.parseAsync(['setup', ...args, '--json', '--home', home], { from: 'user' });
  return (JSON.parse(String(written.mock.calls[0]![0])) as { changes: Change[] }).changes;
}
const apply = (...args: string[]): Promise<Change[]> =>
  setup(project(), '--client', 'all', '--yes', ...args);
const states = (changes: readonly Change[]): string[] => [
  ...new Set(changes.map(({ state }) => state)),
];

/** Each character of the one, in this order. */
function isWithin(one: string, other: string): boolean {
  let seen = 0;
  for (const char of other) if (char === one[seen]) seen += 1;
  return seen === one.length;
}

test.each([
  ['of people', samples],
  ['that are not there', {}],
])('settings %s are as they were, byte for byte, when ours are taken out', async (_, files) => {
  await put(files);
  const before = await all();
  expect(states(await apply())).toEqual(['written']);
  const after = await all();
  expect(Object.keys(after)).toEqual(expect.arrayContaining(Object.keys(samples)));
  // Nothing of it was changed, only added to.
  for (const [name, text] of Object.entries(files)) expect(isWithin(text, after[name]!)).toBe(true);
  expect(states(await apply())).toEqual(['there']);
  expect(await all()).toEqual(after);
  expect(states(await apply('--remove'))).toEqual(['removed']);
  expect(await all()).toEqual(before);
  expect(await readdir(path.join(folder, 'state'))).toEqual([]);
});

test('only shown, nothing changes, and the difference says what would', async () => {
  await put(samples);
  const changes = await setup(project(), '--client', 'all', '--dry-run');
  expect(states(changes)).toEqual(['to write']);
  expect(
    changes
      .find(({ client }) => client === 'codex')
      ?.diff.split('\n')
      .slice(2),
  ).toEqual([
    '@@ -6,3 +6,9 @@',
    ' args = [',
    '   "y", # why',
    ' ]',
    '+',
    '+# sigma-bus: begin',
    '+[mcp_servers.sigma]',
    expect.stringContaining('+command = '),
    expect.stringContaining('mcp"]'),
    '+# sigma-bus: end',
  ]);
  expect(await all()).toEqual(expect.objectContaining(samples));
});

test('what the user changed since stays, before ours and in it', async () => {
  await put(samples);
  await apply();
  const files = ['.mcp.json', '.codex/config.toml', 'AGENTS.md'];
  const edit = async (name: string, change: (text: string) => string): Promise<void> =>
    writeFile(
      path.join(project(), name),
      change(await readFile(path.join(project(), name), 'utf8')),
    );
  await edit('.mcp.json', (text) =>
    text.replace('"other"', '"mine"').replace('"mcp"', '"mcp", "--as", "a"'),
  );
  for (const name of files.slice(1)) await edit(name, (text) => text.replace(/^/, '# new\n'));
  const changed = await all();
  expect(states(await apply())).toEqual(['there']);
  expect(await all()).toEqual(changed);
  await apply('--remove');
  const rest = await all();
  expect(rest['.mcp.json']).toBe(samples['.mcp.json']!.replace('other', 'mine'));
  for (const name of files.slice(1)) expect(rest[name]).toBe(`# new\n${samples[name]}`);
});

test('ours is taken out by its form where nothing is known of it', async () => {
  await put({ 'AGENTS.md': samples['AGENTS.md']!, '.mcp.json': samples['.mcp.json']! });
  await apply();
  await rm(path.join(folder, 'state'), { recursive: true });
  expect(states(await apply('--remove'))).toEqual(['removed']);
  expect(await all()).toMatchObject({
    'AGENTS.md': samples['AGENTS.md'],
    '.mcp.json': samples['.mcp.json'],
  });
});

test('what the user wrote themselves is not taken out', async () => {
  const own = '{"mcpServers":{"sigma":{"command":"sigma","args":["mcp","--tools","all"]}}}\n';
  const open = '<!-- sigma-bus: begin -->';
  const close = '<!-- sigma-bus: end -->';
  const told = `It writes between \`${open}\` and my words and \`${close}\`.\n`;
  await put({ '.mcp.json': own, 'AGENTS.md': told });
  await apply();
  expect(await all()).toMatchObject({ '.mcp.json': own });
  expect((await all())['AGENTS.md']).toContain(told);
  const removed = await apply('--remove');
  expect(removed.find(({ file }) => file.endsWith('.mcp.json'))?.state).toBe('refused');
  expect(await all()).toMatchObject({ '.mcp.json': own, 'AGENTS.md': told });
});

test('of two blocks neither is touched', async () => {
  const block = '<!-- sigma-bus: begin -->\nx\n<!-- sigma-bus: end -->\n';
  await put({ 'AGENTS.md': block + block });
  const [agents] = (await apply()).filter(({ client }) => client === 'agents');
  expect(agents?.state).toBe('refused');
  expect(await all()).toMatchObject({ 'AGENTS.md': block + block });
});

test('an older text of ours is replaced, and the file still goes back to what it was', async () => {
  await put(samples);
  await apply();
  const file = path.join(project(), 'AGENTS.md');
  await writeFile(
    file,
    (await readFile(file, 'utf8')).replace('This code base is indexed', 'Older'),
  );
  expect((await apply()).find(({ client }) => client === 'agents')?.state).toBe('written');
  expect(await readFile(file, 'utf8')).toContain('This code base is indexed');
});

test.each([
  ['no JSON', '.mcp.json', '{ "mcpServers": '],
  ['another server of the name', '.mcp.json', '{ "mcpServers": { "sigma": { "command": "x" } } }'],
  ['a list where servers belong', '.vscode/mcp.json', '{ "servers": [] }'],
  ['no TOML', '.codex/config.toml', 'a = '],
  ['servers that take no table', '.codex/config.toml', 'mcp_servers = {}\n'],
  ['a block without an end', 'AGENTS.md', '<!-- sigma-bus: begin -->\nmine\n'],
])('%s is left as it is, and the others are written', async (_, name, text) => {
  await put({ [name]: text });
  const changes = await apply();
  const refused = changes.filter(({ state }) => state === 'refused');
  expect(refused.map(({ file }) => path.relative(project(), file))).toEqual([name]);
  expect(await readFile(path.join(project(), name), 'utf8')).toBe(text);
  expect([changes.length, process.exitCode]).toEqual([7, 1]);
  expect(states(changes)).toContain('written');
});

test('a link to settings stays a link', async () => {
  await put({ 'kept/mcp.json': samples['.mcp.json']! });
  const link = path.join(project(), '.mcp.json');
  await symlink('kept/mcp.json', link);
  await apply();
  expect((await lstat(link)).isSymbolicLink()).toBe(true);
  expect(await readFile(link, 'utf8')).toContain('"sigma"');
});

test('the settings of the user are where each client has them', async () => {
  vi.stubEnv('XDG_CONFIG_HOME', undefined);
  const changes = await setup('--user', '--client', 'all', '--yes');
  const home = path.join(folder, 'home');
  expect(changes.map(({ file }) => path.relative(home, file))).toEqual([
    '.claude.json',
    '.claude/settings.json',
    '.codex/config.toml',
    '.gemini/settings.json',
    '.cursor/mcp.json',
    process.platform === 'darwin'
      ? 'Library/Application Support/Code/User/mcp.json'
      : '.config/Code/User/mcp.json',
  ]);
  await setup('--user', '--remove', '--yes');
  await expect(readdir(home)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('where it is not known what was changed before, nothing is', async () => {
  await put(samples);
  await apply();
  const before = await all();
  await writeFile(path.join(folder, 'state/setup.json'), '{');
  await expect(apply('--remove')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  expect(await all()).toEqual(before);
});

test('without a terminal nothing is written unless it is said', async () => {
  await put(samples);
  await expect(setup(project(), '--client', 'all')).rejects.toMatchObject({ code: 'USAGE' });
  expect(await all()).toEqual(expect.objectContaining(samples));
});
