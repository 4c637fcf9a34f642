import { setTimeout as wait } from 'node:timers/promises';

const revision = '2026-07-28';
const pollMs = 50;
const nameOf: Readonly<Record<string, string>> = { 'tools/call': 'name' };

/** A request of 2026 from a client that can come back for an answer; the official client cannot. */
export function taskRequest(
  url: string,
  method: string,
  params: Record<string, unknown>,
  { capabilities, token = '', meta = {} }: TaskClient = {},
): Request {
  const can = capabilities ?? {
    elicitation: { form: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': can,
    ...meta,
  };
  return new Request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': revision,
      'mcp-method': method,
      'mcp-name': params[nameOf[method] ?? 'taskId'] as string,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  });
}

export interface TaskClient {
  capabilities?: object;
  token?: string;
  meta?: object;
}

export type Ask = (method: string, params: Record<string, unknown>) => Promise<any>;

/** Asks by `fetch`; an error of the protocol is returned as it is. */
export function asking(
  fetched: (request: Request) => Promise<Response>,
  url: string,
  client: TaskClient = {},
): Ask {
  return async (method, params) => {
    const text = await (await fetched(taskRequest(url, method, params, client))).text();
    const { result, error } = JSON.parse(/^data: (\{.*"id":1.*\})$/m.exec(text)?.[1] ?? text);
    return result ?? error;
  };
}

/** Again and again, until it is in one of these states. */
export async function taskIn(ask: Ask, taskId: string, ...states: string[]): Promise<any> {
  for (;;) {
    const task = await ask('tasks/get', { taskId });
    if (states.includes(task.status) || task.code !== undefined) return task;
    await wait(pollMs);
  }
}
