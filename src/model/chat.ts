import OpenAI, { APIConnectionError, APIError, APIUserAbortError } from 'openai';
import { BusError } from '../errors/bus-error.js';

/** Of one request; the client of the endpoint tries again by itself, with backoff. */
const requestMsMax = 120_000;
const retriesMax = 2;
const detailCharsMax = 200;

export interface ChatSettings {
  /** `https://…`, or `http://` on this machine; `/chat/completions` is put behind it. */
  url: string;
  model: string;
  /** Name of the environment variable that holds the key. */
  keyEnv: string;
}

export interface Said {
  text: string;
  /** Of the question and the answer, as the endpoint counts them; 0: it does not. */
  tokens: number;
}

/** Any server that answers `POST {url}/chat/completions` as OpenAI's does. */
export class Chat {
  readonly #client: OpenAI;
  readonly #settings: ChatSettings;
  readonly #key: string;

  /** `requestMs`, `retries`: of one request. */
  constructor(
    settings: ChatSettings,
    options: {
      env: Readonly<Record<string, string | undefined>>;
      requestMs?: number;
      retries?: number;
    },
  ) {
    this.#settings = settings;
    // An endpoint on this machine may want none; the library wants a text.
    this.#key = options.env[settings.keyEnv] ?? '';
    this.#client = new OpenAI({
      baseURL: settings.url,
      apiKey: this.#key === '' ? 'none' : this.#key,
      timeout: options.requestMs ?? requestMsMax,
      maxRetries: options.retries ?? retriesMax,
      // Whatever else the environment says of that service is not meant for this endpoint.
      organization: null,
      project: null,
      logLevel: 'off',
    });
  }

  /** Throws MODEL_UNAVAILABLE, MODEL_REFUSED, CANCELLED. */
  async ask(system: string, user: string, signal: AbortSignal): Promise<Said> {
    try {
      const answer = await this.#client.chat.completions.create(
        {
          model: this.#settings.model,
          messages: [
            { role: 'system', content: system },
            { role: 'user', content: user },
          ],
        },
        { signal },
      );
      const text = (answer.choices as typeof answer.choices | undefined)?.[0]?.message.content;
      if (typeof text !== 'string' || text.trim() === '')
        throw this.#failure('MODEL_REFUSED', 'it answered nothing');
      return { text, tokens: answer.usage?.total_tokens ?? 0 };
    } catch (error) {
      throw this.#coded(error);
    }
  }

  #coded(error: unknown): unknown {
    if (error instanceof BusError) return error;
    if (error instanceof APIUserAbortError) return new BusError('CANCELLED');
    if (error instanceof APIConnectionError)
      return this.#failure('MODEL_UNAVAILABLE', error.message);
    if (!(error instanceof APIError))
      return this.#failure('MODEL_UNAVAILABLE', error instanceof Error ? error.message : '');
    const status = Number(error.status ?? 0);
    const isPassing = status === 408 || status === 409 || status === 429 || status >= 500;
    return this.#failure(isPassing ? 'MODEL_UNAVAILABLE' : 'MODEL_REFUSED', error.message);
  }

  /** Servers repeat what they were sent, keys too. */
  #failure(code: 'MODEL_UNAVAILABLE' | 'MODEL_REFUSED', detail: string): BusError {
    const plain = this.#key === '' ? detail : detail.replaceAll(this.#key, '…');
    return new BusError(code, {
      model: this.#settings.model,
      detail: plain.slice(0, detailCharsMax).trim(),
    });
  }
}
