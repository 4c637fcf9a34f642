import type { Config } from '../../src/config/config.js';
import { openLog } from '../../src/observe/log.js';
import { untilStopped } from '../process.js';
import { Bus } from './bus.js';
import { HandedOverCalls } from './calls.js';
import { McpHttp } from './http.js';
import { newServer } from './server.js';
import { serveStdioUntil } from './stdio.js';
import { ensureToken, tokenFile } from './token.js';

export interface McpOptions {
  /** The agent's name; otherwise it follows from the working directory. */
  as?: string;
  /** Serves HTTP there, 0 for any, instead of standard input and output. */
  http?: number;
}

/**
 * `sigma mcp`: the tools of the bus for one client at the other end of standard input, or for all that have
 * the token over HTTP. Ends when the client goes, or at a signal. Throws MCP_ADDRESS, KEY_FILE_INVALID.
 */
export async function runMcp(config: Config, { as, http }: McpOptions): Promise<void> {
  const log = openLog(config, { service: 'mcp' });
  const stopped = untilStopped();
  await using bus = new Bus({ config, log, folder: process.cwd(), as });
  using calls = new HandedOverCalls();
  const shared = { bus, log, calls };
  if (http === undefined) return await serveStdioUntil(stopped, shared);
  await using server = await McpHttp.open({
    port: http,
    token: ensureToken(config.home),
    log,
    newServer: (era) => newServer(shared, era),
  });
  process.stdout.write(`ready ${server.url}\ntoken in ${tokenFile(config.home)}\n`);
  await stopped;
}
