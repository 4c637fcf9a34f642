import { Scope } from '../../../base/scope.js';
import { asBusError } from '../../../errors/bus-error.js';
import { findBundledModel } from '../../../model/bundled-model.js';
import type { Embedder } from '../../../model/embedder.js';
import { EndpointEmbedder, type EndpointSettings } from '../../../model/endpoint.js';
import { Minilm, type MinilmOptions } from '../../../model/minilm.js';
import type { TokenTable } from '../../../model/token-table.js';
import { textCharsMax } from '../../../model/word-piece.js';
import { beginningWithout } from '../../mine/items/redaction.js';
import { readOrMakeTable } from './table-file.js';

/** Vectors of an endpoint cost money or hours; those of a table cost memory in the process that searches. */
const symbolsMaxDefault = 200_000;
const tableSymbolsMax = 4_000_000;

interface EndpointOfIndex extends EndpointSettings {
  /** Symbols of one tree that are embedded, documented ones first. */
  symbolsMax?: number | undefined;
}

/** `auto`: the bundled model where it is installed. `off`: search by words alone. */
export type EmbeddingSettings = 'auto' | 'off' | EndpointOfIndex;

export interface EngineOptions {
  /** SIGMA_HOME. */
  home: string;
  settings: EmbeddingSettings;
  /** Holds the key of an endpoint. */
  env: Readonly<Record<string, string | undefined>>;
  /** Derives a missing table from the model, which takes seconds: not for an answer. */
  derives?: boolean;
  /** Starts the model while the caller opens what it will read. */
  starts?: boolean;
  signal?: AbortSignal;
  model?: MinilmOptions;
}

/** Makes vectors. Dispose of it: the model may run in a process. */
export class Engine implements AsyncDisposable {
  readonly #scope: Scope;

  private constructor(
    scope: Scope,
    readonly kind: 'endpoint' | 'bundled' | 'none',
    /** Of symbols and of questions; undefined: search by words alone. */
    readonly embedder: Embedder | undefined,
    /** The same, where it answers at once. */
    readonly table: TokenTable | undefined,
    /** Judges a few candidates anew. */
    readonly judge: Embedder | undefined,
    /** What is missing and how to mend it, in sentences; empty when nothing is missing. */
    readonly lack: string,
    readonly symbolsMax: number,
  ) {
    this.#scope = scope;
  }

  /** A missing model or table is no error: `lack` names it. Throws the reason of `signal`. */
  static async open(options: EngineOptions): Promise<Engine> {
    const { settings, home, signal } = options;
    const scope = new Scope();
    if (settings === 'off')
      return new Engine(scope, 'none', undefined, undefined, undefined, '', 0);
    if (settings !== 'auto') {
      const endpoint = scope.own(new EndpointEmbedder(settings, { env: options.env }));
      const symbolsMax = settings.symbolsMax ?? symbolsMaxDefault;
      return new Engine(scope, 'endpoint', endpoint, undefined, endpoint, '', symbolsMax);
    }
    const found = findBundledModel();
    const model = 'files' in found ? scope.own(new Minilm(found.files, options.model)) : undefined;
    if (options.starts === true) model?.start();
    let lack =
      'missing' in found
        ? `${found.missing} is not installed: run npm ci, or name an endpoint`
        : '';
    let table: TokenTable | undefined;
    try {
      table = await readOrMakeTable(home, options.derives === true ? model : undefined, signal);
    } catch (error) {
      // The caller gets no engine that it could close.
      if (signal?.aborted === true) await scope[Symbol.asyncDispose]();
      signal?.throwIfAborted();
      lack = asBusError(error).message;
    }
    if (table !== undefined) model?.tokenizeWith(table.tokenizer);
    if (table === undefined && lack === '') lack = 'no table was made here yet: run sigma index';
    const kind = table === undefined && model === undefined ? 'none' : 'bundled';
    return new Engine(scope, kind, table, table, model, lack, tableSymbolsMax);
  }

  /** The part of a text that may be embedded: an endpoint gets nothing that looks like a credential. */
  fit(text: string, charsMax = textCharsMax): string {
    return this.kind === 'endpoint' ? beginningWithout(text, charsMax) : text.slice(0, charsMax);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#scope[Symbol.asyncDispose]();
  }
}
