import type { ZodType } from 'zod';
import type { BusError } from '../errors/bus-error.js';
import type { Budget } from './budget.js';

export const chatLimits = {
  /** Of one request; more is MODEL_REQUEST_TOO_LARGE, and nothing is sent. */
  messages: 1_024,
  tools: 128,
  /** Of all messages and tools of one request, written out. */
  requestBytes: 8 * 1024 * 1024,
  /** Text and arguments of one answer; it is cut there with MODEL_ANSWER_TOO_LARGE. */
  answerBytes: 1024 * 1024,
  /** The same as it is sent: each token of a stream comes in some 250 bytes. */
  wireBytes: 64 * 1024 * 1024,
  /** In one answer; more is MODEL_ANSWER_TOO_LARGE. */
  calls: 32,
  /** Characters of the arguments of one call; beyond it only that call fails, with MODEL_CALL_INVALID. */
  argumentsBytes: 256 * 1024,
} as const;

export type Message =
  | { role: 'system' | 'user'; text: string }
  | { role: 'assistant'; text: string; calls?: readonly ToolCall[] }
  /** What came of a call, or why nothing did. */
  | { role: 'tool'; callId: string; text: string };

export interface Tool {
  name: string;
  description: string;
  /** JSON schema of an object. */
  parameters: Record<string, unknown>;
}

export interface ToolCall {
  id: string;
  name: string;
  /** `{}` when `error` is set: endpoints refuse a conversation with invalid JSON. */
  arguments: Record<string, unknown>;
  /** MODEL_CALL_INVALID: not to be run; its message is the call's result, from which the model learns. */
  error?: BusError;
}

/** What the answer has to be. */
export interface AnswerSchema<T> {
  /** Letters, digits, `_` and `-`. */
  name: string;
  shape: ZodType<T>;
  /** JSON Schema for the endpoint; by default made from `shape`. */
  json?: Record<string, unknown>;
  /** False: the endpoint may take the schema as advice; OpenAI's is strict only where no field is optional. Default true. */
  strict?: boolean;
}

export type Delta =
  | { kind: 'text'; text: string }
  /** `at`: which call of the answer. */
  | { kind: 'call'; at: number; name: string; arguments: string }
  /** The answer so far is invalid: the model was asked to repair it. */
  | { kind: 'again' };

export interface Wanted<T> {
  signal: AbortSignal;
  tools?: readonly Tool[];
  schema?: AnswerSchema<T>;
  /** The answer is streamed. What this throws ends the request, and is thrown as it is. */
  onDelta?: (delta: Delta) => void;
  /** Is charged for every request, failed ones too. */
  budget?: Budget;
}

export interface Usage {
  prompt: number;
  completion: number;
  total: number;
  /** The endpoint did not count: four characters were taken for a token. */
  isEstimated: boolean;
}

export interface Answer<T = unknown> {
  text: string;
  calls: ToolCall[];
  usage: Usage;
  /** `calls`: the model waits for their results. */
  finish: 'stop' | 'calls';
  /** With a schema, and without calls: the text as that schema reads it. */
  value?: T;
}
