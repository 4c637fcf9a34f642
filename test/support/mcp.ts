import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { environment, program, startSigma, type Running } from './sigma.js';
import { eventually } from './eventually.js';

/** The two generations of the protocol that clients speak today. */
export type Era = 'legacy' | 'modern';

function newClient(era: Era): Client {
  const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' };
  return new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
}

/** The official client with a `sigma mcp` of its own. */
export async function stdioClient(
  home: string,
  options: { era?: Era; args?: string[]; cwd?: string } = {},
): Promise<Client> {
  const client = newClient(options.era ?? 'legacy');
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp', ...(options.args ?? [])],
    env: environment(home) as Record<string, string>,
    stderr: 'ignore',
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  await client.connect(transport);
  return client;
}

export interface HttpServer extends Running {
  url: string;
  tokenFile: string;
}

export async function startHttp(home: string, args: string[] = []): Promise<HttpServer> {
  const running = startSigma(home, ['mcp', '--http', '0', ...args]);
  await eventually(() => {
    if (!/^token in /m.test(running.output())) throw new Error(running.output());
  });
  const url = /^ready (\S+)$/m.exec(running.output())?.[1] ?? '';
  const tokenFile = /^token in (.+)$/m.exec(running.output())?.[1] ?? '';
  return { ...running, url, tokenFile };
}

export async function httpClient(url: string, token: string, era: Era): Promise<Client> {
  const client = newClient(era);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
  await client.connect(transport);
  return client;
}

/** What a failed call holds. */
export function failureOf(result: any): { code: string; retryable: boolean; next: string } {
  if (result.isError !== true) throw new Error(`it did not fail: ${JSON.stringify(result)}`);
  return JSON.parse(result.content[0].text).error;
}
