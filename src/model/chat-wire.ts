import { BusError } from '../errors/bus-error.js';
import { formatOf } from './answer-schema.js';
import { estimatedTokens } from './budget.js';
import { chatLimits, type Message, type Tool, type Usage, type Wanted } from './conversation.js';

/** The format of OpenAI's endpoint, without unused fields. */
export interface ChatBody {
  model: string;
  messages: WireMessage[];
  tools?: { type: 'function'; function: Tool }[];
  response_format?: ReturnType<typeof formatOf>;
}

type WireMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string }
  | { role: 'tool'; tool_call_id: string; content: string }
  | { role: 'assistant'; content: string | null; tool_calls?: WireCall[] };

interface WireCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

/** What is sent, besides whether it is streamed. Throws MODEL_REQUEST_TOO_LARGE. */
export function bodyOf<T>(
  model: string,
  messages: readonly Message[],
  { tools = [], schema }: Pick<Wanted<T>, 'tools' | 'schema'>,
): { body: ChatBody; promptChars: number } {
  assertFits(model, messages.length, chatLimits.messages, 'messages');
  assertFits(model, tools.length, chatLimits.tools, 'tools');
  const body: ChatBody = {
    model,
    messages: messages.map(messageParam),
    ...(tools.length > 0 && {
      tools: tools.map((each) => ({ type: 'function' as const, function: { ...each } })),
    }),
    ...(schema !== undefined && { response_format: formatOf(schema) }),
  };
  const json = JSON.stringify(body);
  assertFits(model, Buffer.byteLength(json), chatLimits.requestBytes, 'bytes');
  return { body, promptChars: json.length };
}

/** As the endpoint counts, where it does; else by length. */
export function usageOf(
  counted: unknown,
  { promptChars, chars }: { promptChars: number; chars: number },
): Usage {
  const its = (counted ?? {}) as Partial<Record<string, unknown>>;
  const prompt = countOf(its.prompt_tokens);
  const completion = countOf(its.completion_tokens);
  const all = countOf(its.total_tokens);
  const isEstimated = all === 0 && (prompt === 0 || completion === 0);
  if (!isEstimated) return { prompt, completion, total: all || prompt + completion, isEstimated };
  const guess = { prompt: estimatedTokens(promptChars), completion: estimatedTokens(chars) };
  return { ...guess, total: guess.prompt + guess.completion, isEstimated };
}

export function addedUsage(one: Usage, other: Usage): Usage {
  return {
    prompt: one.prompt + other.prompt,
    completion: one.completion + other.completion,
    total: one.total + other.total,
    isEstimated: one.isEstimated || other.isEstimated,
  };
}

/** What is no number of tokens counts nothing: a budget never grows. */
function countOf(value: unknown): number {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : 0;
}

function messageParam(message: Message): WireMessage {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.text };
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.text };
    case 'assistant': {
      const calls = message.calls ?? [];
      return {
        role: 'assistant',
        content: message.text === '' ? null : message.text,
        ...(calls.length > 0 && {
          tool_calls: calls.map(({ id, name, arguments: its }) => ({
            ...{ id, type: 'function' as const },
            function: { name, arguments: JSON.stringify(its) },
          })),
        }),
      };
    }
  }
}

function assertFits(model: string, its: number, max: number, what: string): void {
  if (its > max) throw new BusError('MODEL_REQUEST_TOO_LARGE', { model, its, max, what });
}
