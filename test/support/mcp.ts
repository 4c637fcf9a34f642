import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { environment, program, startSigma, type Running } from './sigma.js';
import { eventually } from './eventually.js';

/** The two generations of the protocol that clients speak today. */
export type Era = 'legacy' | 'modern';

/** `person`: answers forms; absent: the client has none. */
export type Person = (message: string) => { action: string; content?: Record<string, unknown> };

function newClient(era: Era, person?: Person): Client {
  const mode = era === 'legacy' ? ('legacy' as const) : { pin: '2026-07-28' as const };
  const capabilities = person === undefined ? {} : { elicitation: { form: {} } };
  const options = { versionNegotiation: { mode }, capabilities };
  const client = new Client({ name: 'test', version: '1' }, options);
  if (person !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => person(params.message) as never);
  return client;
}

/** The official client with a `sigma mcp` of its own. */
export async function stdioClient(
  home: string,
  options: { era?: Era; args?: string[]; cwd?: string; person?: Person } = {},
): Promise<Client> {
  const client = newClient(options.era ?? 'legacy', options.person);
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
