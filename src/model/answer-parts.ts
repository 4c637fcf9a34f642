import { newId } from '../base/ids.js';
import { BusError } from '../errors/bus-error.js';
import { chatLimits, type ToolCall } from './conversation.js';

/** Of a message, whole or in parts, as endpoints send it; nothing in it is certain. */
export interface MessagePart {
  content?: unknown;
  refusal?: unknown;
  tool_calls?: unknown;
}

interface CallPart {
  index?: number;
  id?: unknown;
  function?: { name?: unknown; arguments?: unknown } | null;
}

/** Characters of a tool's name in an error: a model may invent a very long one. */
const nameCharsMax = 64;

interface OpenCall {
  id: string;
  name: string;
  arguments: string;
  bytes: number;
}

export interface TakenPart {
  text: string;
  calls: { at: number; name: string; arguments: string }[];
}

/** An answer as it comes in. Bounded: throws MODEL_ANSWER_TOO_LARGE. */
export class AnswerParts {
  text = '';
  refusal = '';
  /** Of text and arguments. */
  chars = 0;
  #bytes = 0;
  readonly #calls: OpenCall[] = [];
  /** Position of the call that an index of the endpoint means now. */
  readonly #at = new Map<number, number>();

  constructor(readonly model: string) {}

  get isEmpty(): boolean {
    return this.text.trim() === '' && this.#calls.length === 0;
  }

  /** Returns the new part. */
  take({ content, refusal, tool_calls }: MessagePart): TakenPart {
    const text = this.#counted(content);
    this.text += text;
    this.refusal += this.#counted(refusal);
    const parts = Array.isArray(tool_calls) ? (tool_calls as (CallPart | null)[]) : [];
    return { text, calls: parts.flatMap((each) => (each === null ? [] : [this.#takeCall(each)])) };
  }

  /** `tools`: the names that there are. */
  calls(tools: ReadonlySet<string>): ToolCall[] {
    return this.#calls.map((call) => {
      const id = call.id === '' ? newId('call') : call.id;
      const failed = (detail: string): ToolCall => {
        const error = new BusError('MODEL_CALL_INVALID', {
          tool: call.name.slice(0, nameCharsMax),
          detail,
        });
        return { id, name: call.name, arguments: {}, error };
      };
      if (!tools.has(call.name)) return failed('there is no such tool');
      if (call.bytes > chatLimits.argumentsBytes)
        return failed(`its arguments are longer than ${chatLimits.argumentsBytes} bytes`);
      const read = readArguments(call.arguments);
      return typeof read === 'string' ? failed(read) : { id, name: call.name, arguments: read };
    });
  }

  #takeCall(part: CallPart): TakenPart['calls'][number] {
    const at = this.#positionOf(part);
    const call = this.#calls[at] ?? this.#opened(at);
    // Some endpoints repeat them in every part.
    if (call.name === '') call.name = this.#counted(part.function?.name);
    if (call.id === '') call.id = this.#counted(part.id);
    const given = part.function?.arguments ?? '';
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    this.#count(text);
    call.bytes += Buffer.byteLength(text);
    if (call.bytes <= chatLimits.argumentsBytes) call.arguments += text;
    return { at, name: call.name, arguments: text };
  }

  /** Some endpoints give each call of an answer the same index, or none: then the id distinguishes them. */
  #positionOf({ index, id }: CallPart): number {
    const key = index ?? (id ? -1 : Math.max(0, this.#calls.length - 1));
    const known = this.#at.get(key);
    const isOther = known !== undefined && !!id && !['', id].includes(this.#calls[known]?.id ?? '');
    const at = known === undefined || isOther ? this.#calls.length : known;
    this.#at.set(key, at);
    return at;
  }

  #opened(at: number): OpenCall {
    if (at >= chatLimits.calls) throw this.#tooLarge(chatLimits.calls, 'calls');
    const call = { id: '', name: '', arguments: '', bytes: 0 };
    this.#calls.push(call);
    return call;
  }

  #counted(value: unknown): string {
    const text = typeof value === 'string' ? value : '';
    this.#count(text);
    return text;
  }

  #count(text: string): void {
    this.chars += text.length;
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > chatLimits.answerBytes) throw this.#tooLarge(chatLimits.answerBytes, 'bytes');
  }

  #tooLarge(max: number, what: string): BusError {
    return new BusError('MODEL_ANSWER_TOO_LARGE', { model: this.model, max, what });
  }
}

/** Returns a text on error. Empty arguments are valid for a tool without parameters. */
function readArguments(text: string): Record<string, unknown> | string {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
    return 'its arguments are no object';
  } catch (error) {
    return `its arguments are no JSON: ${(error as Error).message}`;
  }
}
