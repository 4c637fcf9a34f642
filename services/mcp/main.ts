import type { Config } from '../../src/config/config.js';
import { openLog } from '../../src/observe/log.js';
import { setsDefault, toolsOf } from '../../src/operations/tool-sets.js';
import { untilStopped } from '../process.js';
import { Bus } from '../bus.js';
import { HandedOverCalls } from './calls.js';
import { McpHttp } from './http.js';
import { serveStdioUntil } from './stdio.js';
import { ensureToken, tokenFile } from '../token.js';

export interface McpOptions {
  /** The agent's name; otherwise it follows from the working directory. */
  as?: string;
  /** Serves HTTP there, 0 for any, instead of standard input and output. */
  http?: number;
  /** Sets of tools; otherwise as configured, or the core. */
  tools?: readonly string[];
  /** Answers as data besides. */
  isStructured?: boolean;
}

/**
 * `sigma mcp`: the tools of the bus for one client at the other end of standard input, or for all that have
 * the token over HTTP. Ends when the client goes, or at a signal. Throws SERVER_ADDRESS, KEY_FILE_INVALID, USAGE.
 */
export async function runMcp(config: Config, options: McpOptions): Promise<void> {
  const { as, http, tools = config.mcp?.tools ?? setsDefault } = options;
  const { isStructured = config.mcp?.structure ?? false } = options;
  const offered = await toolsOf(tools);
  const log = openLog(config, { service: 'mcp' });
  const stopped = untilStopped();
  await using bus = new Bus({ config, log, folder: process.cwd(), as, role: 'mcp', reads: true });
  using calls = new HandedOverCalls();
  const offer = { bus, log, calls, tools: offered, isStructured };
  if (http === undefined) return await serveStdioUntil(stopped, offer);
  await using server = await McpHttp.open({
    port: http,
    token: ensureToken(config.home, 'mcp'),
    offer,
  });
  process.stdout.write(`ready ${server.url}\ntoken in ${tokenFile(config.home, 'mcp')}\n`);
  await stopped;
}
