import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { blockEdit, jsonEdit, Refusal, tomlEdit, type Edit, type JsonValue } from './edits.js';

export const clientNames = ['claude', 'codex', 'gemini', 'cursor', 'vscode', 'agents'] as const;
export type ClientName = (typeof clientNames)[number];

/** One file of one client, and what is put into it. */
export interface Part {
  client: ClientName;
  /** In words. */
  what: string;
  file: string;
  edit: Edit;
}

export interface Places {
  /** The folder of the project; undefined: the files of the user, for all projects. */
  folder: string | undefined;
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  /** How the server is started: a program and what stands before `mcp`. */
  command: readonly [string, ...string[]];
}

interface Client {
  /** Below the folder of the project. */
  project: string;
  user: (homes: Homes) => string;
  /** What is there on a machine that has this client. */
  signs: (homes: Homes) => string[];
  key: string;
  extra?: object;
}

type Homes = Record<'user' | 'claude' | 'claudeJson' | 'codex' | 'code', string>;

const clients: Record<Exclude<ClientName, 'agents'>, Client> = {
  claude: {
    project: '.mcp.json',
    user: ({ claudeJson }) => claudeJson,
    signs: ({ claude, claudeJson }) => [claude, claudeJson],
    key: 'mcpServers',
    // Else it looks for tools only when it thinks of them.
    extra: { type: 'stdio', alwaysLoad: true },
  },
  codex: {
    project: '.codex/config.toml',
    user: ({ codex }) => path.join(codex, 'config.toml'),
    signs: ({ codex }) => [codex],
    key: 'mcp_servers',
  },
  gemini: {
    project: '.gemini/settings.json',
    user: ({ user }) => path.join(user, '.gemini/settings.json'),
    signs: ({ user }) => [path.join(user, '.gemini')],
    key: 'mcpServers',
  },
  cursor: {
    project: '.cursor/mcp.json',
    user: ({ user }) => path.join(user, '.cursor/mcp.json'),
    signs: ({ user }) => [path.join(user, '.cursor')],
    key: 'mcpServers',
  },
  vscode: {
    project: '.vscode/mcp.json',
    user: ({ code }) => path.join(code, 'User/mcp.json'),
    signs: ({ user, code }) => [code, path.join(user, '.vscode')],
    key: 'servers',
    extra: { type: 'stdio' },
  },
};

const name = 'sigma';
const shipped = new URL('../../../../deploy/agents/', import.meta.url);
const tomlMarks = { open: '# sigma-bus: begin', close: '# sigma-bus: end' };
const textMarks = { open: '<!-- sigma-bus: begin -->', close: '<!-- sigma-bus: end -->' };

/** All files of the clients in `chosen`. */
export function partsOf(chosen: readonly ClientName[], places: Places): Part[] {
  return chosen.flatMap((client) =>
    client === 'agents' ? agentsPart(places) : clientParts(client, clients[client], places),
  );
}

/** Which of them there are signs of, on this machine or in the folder. */
export function signsOf(client: ClientName, places: Places): string[] {
  if (client === 'agents') return [];
  const { project, signs } = clients[client];
  const its = places.folder === undefined ? [] : [path.join(places.folder, project)];
  return [...signs(homesOf(places)), ...its];
}

function clientParts(client: ClientName, its: Client, places: Places): Part[] {
  const [program, ...before] = places.command;
  const entry = { ...its.extra, command: program, args: [...before, 'mcp'] };
  const value = { path: [its.key, name] as const, valueOf: ownServer(entry), written: entry };
  const file =
    places.folder === undefined ? its.user(homesOf(places)) : path.join(places.folder, its.project);
  if (client === 'codex') {
    const { command, args } = entry;
    const lines = [
      `[${its.key}.${name}]`,
      `command = ${JSON.stringify(command)}`,
      `args = ${JSON.stringify(args).replaceAll(',', ', ')}`,
    ];
    return [
      { client, what: 'MCP server', file, edit: tomlEdit(blockEdit(tomlMarks, lines), value) },
    ];
  }
  const server = { client, what: 'MCP server', file, edit: jsonEdit([value]) };
  return client === 'claude' ? [server, pluginPart(places)] : [server];
}

/** A server of this name that is ours stays as it is: the user may have given it options. */
function ownServer(entry: object): JsonValue['valueOf'] {
  return (found) => {
    if (found === undefined) return entry;
    const { command, args } = (found ?? {}) as { command?: unknown; args?: unknown };
    const words = [command, ...(Array.isArray(args) ? (args as unknown[]) : [])].map(String);
    const isOurs =
      words.some((word) => /(^|[\\/])sigma(\.mjs)?$/.test(word)) && words.includes('mcp');
    if (isOurs) return found;
    throw new Refusal(`another MCP server is called ${name}`);
  };
}

/** The plugin lies where Sigma Bus is installed, so that it is as new as that; its path concerns one machine only. */
function pluginPart({ folder, ...places }: Places): Part {
  const file =
    folder === undefined
      ? path.join(homesOf({ folder, ...places }).claude, 'settings.json')
      : path.join(folder, '.claude/settings.local.json');
  const source = { source: 'directory', path: fileURLToPath(new URL('claude', shipped)) };
  const edit = jsonEdit([
    {
      path: ['extraKnownMarketplaces', 'sigma-bus'],
      ...{ valueOf: () => ({ source }), written: { source } },
    },
    {
      path: ['enabledPlugins', `${name}@sigma-bus`],
      ...{ valueOf: (found) => found ?? true, written: true },
    },
  ]);
  return { client: 'claude', what: 'plugin with a skill', file, edit };
}

function agentsPart({ folder }: Places): Part[] {
  if (folder === undefined) return [];
  const text = readFileSync(new URL('AGENTS.md', shipped), 'utf8').trimEnd().split('\n');
  const file = path.join(folder, 'AGENTS.md');
  return [{ client: 'agents', what: 'instructions', file, edit: blockEdit(textMarks, text) }];
}

function homesOf({ env, platform }: Places): Homes {
  const user = env.HOME ?? homedir();
  const claude = env.CLAUDE_CONFIG_DIR;
  const config =
    platform === 'darwin'
      ? path.join(user, 'Library/Application Support')
      : (env.XDG_CONFIG_HOME ?? path.join(user, '.config'));
  return {
    ...{ user, claude: claude ?? path.join(user, '.claude') },
    claudeJson: path.join(claude ?? user, '.claude.json'),
    ...{ codex: env.CODEX_HOME ?? path.join(user, '.codex'), code: path.join(config, 'Code') },
  };
}
