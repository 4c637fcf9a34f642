import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { BusError } from '../../errors/bus-error.js';
import { codec, pgc, type Codec } from '../../wire/codec.js';
import type { AlgebraAnswer } from '../analyse/algebra/evaluate.js';
import type {
  AlgebraRequest,
  BlastRequest,
  PatternsRequest,
  SecurityRequest,
} from '../analyse/analyses.js';
import type { BlastRadius } from '../analyse/blast-radius.js';
import type { DependencyPatterns } from '../analyse/dependency-patterns.js';
import type { Measures, MeasuresRequest } from '../analyse/measures.js';
import type { SecurityBlastRadius } from '../analyse/security-blast-radius.js';
import type { LocateAnswer, LocateRequest } from '../search/locate/locate.js';
import type { Vocabulary } from '../search/locate/vocabulary.js';
import type {
  RankAnswer,
  RankRequest,
  ReadAnswer,
  ReadRequest,
} from '../search/locate/words-port.js';
import type { TreeState } from '../plan/tree-state.js';
import { packedCards } from '../search/card/packed-card.js';
import type {
  Answer,
  AskRequest,
  CalleesAnswer,
  CallersAnswer,
  CallSite,
  Citation,
  Definition,
  Expansion,
  HopAnswer,
  HopRequest,
  ImplementationsAnswer,
  LatticeQuery,
  QueryProgress,
  SeekAnswer,
  SourcesAnswer,
  SourceText,
  TopologyAnswer,
  TraceAnswer,
  Verdict,
  WordCounts,
} from '../shapes.js';

/** Before deflating. A card lists the names that a shard defines: megabytes of text, a quarter when deflated. */
const cardBytesMax = 64 * 1024 * 1024;

/** Limit for the answer of an analysis before deflating; a larger one is refused with TOO_LARGE. */
const analysisBytesMax = 32 * 1024 * 1024;

/** One type of request: its name on the bus and the bodies of both directions. */
export interface MessageType<Request, Answer> {
  type: string;
  request: Codec<Request>;
  answer: Codec<Answer>;
}

function messageType<Request extends object, Answer extends object>(
  type: string,
  request: Parameters<typeof codec>[0],
  answer: Parameters<typeof codec>[0],
): MessageType<Request, Answer> {
  return { type, request: codec<Request>(request), answer: codec<Answer>(answer) };
}

/** What a protocol can be asked, each question under its name. */
export type AskedBy<Messages, Options> = {
  [Name in keyof Messages]: Messages[Name] extends MessageType<infer Request, infer Answer>
    ? (request: Request, options: Options) => Promise<Answer>
    : never;
};

/** Asks each question of a protocol in the same way. */
export function askedBy<Messages extends object, Options>(
  messages: Messages,
  ask: <Request, Answer>(
    message: MessageType<Request, Answer>,
    request: Request,
    options: Options,
  ) => Promise<Answer>,
): AskedBy<Messages, Options> {
  const all = Object.entries(messages) as [string, MessageType<object, object>][];
  const asked = all.map(([name, message]) => [
    name,
    (request: object, options: Options) => ask(message, request, options),
  ]);
  return Object.fromEntries(asked) as AskedBy<Messages, Options>;
}

const askMessage = (type: string): MessageType<AskRequest, Answer> =>
  messageType(type, pgc.AskRequest, pgc.Answer);

/** Requests to one shard. */
export const shardMessages = {
  card: {
    type: 'pgc.card',
    request: codec<object>(pgc.SymbolsRequest),
    answer: deflated(packedCards),
  },
  ask: askMessage('pgc.ask'),
  weigh: messageType<AskRequest, WordCounts>('pgc.weigh', pgc.AskRequest, pgc.WordCounts),
  seek: messageType<AskRequest, SeekAnswer>('pgc.seek', pgc.AskRequest, pgc.SeekAnswer),
  hop: messageType<HopRequest, HopAnswer>('pgc.hop', pgc.HopRequest, pgc.HopAnswer),
  definitions: messageType<{ symbols: string[] }, { definitions: Definition[] }>(
    'pgc.definitions',
    pgc.SymbolsRequest,
    pgc.DefinitionsAnswer,
  ),
  sources: messageType<{ symbols: string[] }, { sources: SourceText[] }>(
    'pgc.sources',
    pgc.SymbolsRequest,
    pgc.SourcesAnswer,
  ),
  callers: messageType<{ symbols: string[] }, { sites: CallSite[] }>(
    'pgc.callers',
    pgc.SymbolsRequest,
    pgc.CallSitesAnswer,
  ),
  references: messageType<{ symbols: string[] }, { sites: CallSite[] }>(
    'pgc.references',
    pgc.SymbolsRequest,
    pgc.CallSitesAnswer,
  ),
  implementations: messageType<{ symbols: string[] }, { definitions: Definition[] }>(
    'pgc.implementations',
    pgc.SymbolsRequest,
    pgc.DefinitionsAnswer,
  ),
  citeCalls: messageType<{ callee: string; sites: CallSite[] }, { citations: Citation[] }>(
    'pgc.cite_calls',
    pgc.CiteRequest,
    pgc.CiteAnswer,
  ),
  expand: messageType<{ anchors: string[] }, { expansions: Expansion[] }>(
    'pgc.expand',
    pgc.ExpandRequest,
    pgc.ExpandAnswer,
  ),
  vocabulary: messageType<object, Vocabulary>('pgc.vocabulary', pgc.SymbolsRequest, pgc.Vocabulary),
  locate: messageType<RankRequest, RankAnswer>('pgc.locate', pgc.RankRequest, pgc.RankAnswer),
  read: messageType<ReadRequest, ReadAnswer>('pgc.read', pgc.ReadRequest, pgc.ReadAnswer),
};

/** Said after each of these answers: a message of protobuf may be said in pieces. */
export const indexState = codec<{ index_state: string }>(pgc.IndexState);

/** Said after each request to the manager: of several trees, the one with the asker's folder answers. */
export const asker = codec<{ asker_folder: string }>(pgc.Asker);

/** Requests that need the whole tree. */
function analysisMessages(prefix: string) {
  const analysis = <Request extends object, Answer extends object>(
    name: string,
    request: Parameters<typeof codec>[0],
    answer: Parameters<typeof codec>[0],
  ): MessageType<Request, Answer> => ({
    type: `${prefix}.${name}`,
    request: codec<Request>(request),
    answer: deflated(codec<Answer>(answer), analysisBytesMax),
  });
  return {
    blastRadius: analysis<BlastRequest, BlastRadius>(
      'blast_radius',
      pgc.BlastRequest,
      pgc.BlastRadius,
    ),
    securityBlastRadius: analysis<SecurityRequest, SecurityBlastRadius>(
      'security_blast_radius',
      pgc.SymbolRequest,
      pgc.SecurityBlastRadius,
    ),
    patterns: analysis<PatternsRequest, DependencyPatterns>(
      'patterns',
      pgc.PatternsRequest,
      pgc.DependencyPatterns,
    ),
    algebra: analysis<AlgebraRequest, AlgebraAnswer>(
      'algebra',
      pgc.AlgebraRequest,
      pgc.AlgebraAnswer,
    ),
    measures: analysis<MeasuresRequest, Measures>('measures', pgc.MeasuresRequest, pgc.Measures),
  };
}

/** Requests to any agent that has the whole index of a tree. */
export const treeMessages = analysisMessages('tree');

export interface StatesRequest {
  /** Of the shards that answered; none: of all trees. */
  agents: readonly string[];
  /** What may be files that the answer shows. */
  paths: readonly string[];
  /** Whether files are compared with the index. */
  compares: boolean;
}

interface RowsRequest {
  symbol: string;
  /** Only rows in files of these; empty: any. */
  roles?: readonly string[];
}

/** Questions about a code base, for all shards together. */
export const questionMessages = {
  query: messageType<LatticeQuery, Answer>('lattice.query', pgc.LatticeQuery, pgc.Answer),
  ask: askMessage('lattice.ask'),
  /** Ranks the files that a report concerns. */
  locate: messageType<LocateRequest, LocateAnswer>(
    'lattice.locate',
    pgc.LocateRequest,
    pgc.LocateAnswer,
  ),
  /** What these symbols define, with its lines. */
  sources: messageType<{ symbols: string[] }, SourcesAnswer>(
    'lattice.sources',
    pgc.SymbolsRequest,
    pgc.SourcesAnswer,
  ),
  /** `cite`: number of call sites that are cited, at most 10. `calls_alone`: other uses are not counted. */
  callers: messageType<RowsRequest & { cite?: number; calls_alone?: boolean }, CallersAnswer>(
    'lattice.callers',
    pgc.SymbolRequest,
    pgc.CallersAnswer,
  ),
  /** Its callers, and where it is used without being called. */
  references: messageType<RowsRequest, CallersAnswer>(
    'lattice.references',
    pgc.SymbolRequest,
    pgc.CallersAnswer,
  ),
  callees: messageType<RowsRequest, CalleesAnswer>(
    'lattice.callees',
    pgc.SymbolRequest,
    pgc.CalleesAnswer,
  ),
  implementations: messageType<RowsRequest, ImplementationsAnswer>(
    'lattice.implementations',
    pgc.SymbolRequest,
    pgc.ImplementationsAnswer,
  ),
  trace: messageType<{ from: string; to: string; roles?: readonly string[] }, TraceAnswer>(
    'lattice.trace',
    pgc.TraceRequest,
    pgc.TraceAnswer,
  ),
  topology: messageType<object, TopologyAnswer>(
    'lattice.topology',
    pgc.SymbolsRequest,
    pgc.TopologyAnswer,
  ),
  path: messageType<{ from: string; to: string; max_hops: number }, { path: string[] }>(
    'lattice.path',
    pgc.PathRequest,
    pgc.PathAnswer,
  ),
  verify: messageType<{ citations: object[] }, { results: Verdict[] }>(
    'lattice.verify',
    pgc.VerifyRequest,
    pgc.VerifyAnswer,
  ),
};

/** Requests to the manager. */
export const latticeMessages = {
  ...analysisMessages('lattice'),
  ...questionMessages,
  /** Of which state of its tree an answer is. */
  states: messageType<StatesRequest, { trees: TreeState[] }>(
    'lattice.states',
    pgc.StatesRequest,
    pgc.StatesAnswer,
  ),
  shards: messageType<object, { known: string[]; unknown: string[] }>(
    'lattice.shards',
    pgc.SymbolsRequest,
    pgc.ShardsAnswer,
  ),
};

/** Partial results before the answer to a query. */
export const queryProgress = codec<QueryProgress>(pgc.QueryProgress);

/** The manager's service name. */
export const latticeService = 'lattice';

/** Prefix of a capability that carries the error code of an agent which works only in part. */
export const troublePrefix = 'trouble:';

function deflated<T>(inner: Codec<T>, bytesMax = cardBytesMax): Codec<T> {
  return {
    encode: (value) => {
      const bytes = inner.encode(value);
      if (bytes.length > bytesMax)
        throw new BusError('TOO_LARGE', {
          what: 'an answer',
          bytes: bytes.length,
          limit: bytesMax,
        });
      return deflateRawSync(bytes, { level: 1 });
    },
    decode: (bytes) => {
      try {
        return inner.decode(inflateRawSync(bytes, { maxOutputLength: bytesMax }));
      } catch (error) {
        if (error instanceof BusError) throw error;
        const detail = 'not a deflated message';
        throw new BusError('MALFORMED_PAYLOAD', { detail }, { cause: error });
      }
    },
  };
}
