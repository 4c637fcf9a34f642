import type { BusError } from '../errors/bus-error.js';
import { bus, codec } from './codec.js';

/** Bodies of the bus's own frames, as plain objects. Fields are explained in `proto/bus.proto`. */

export interface Hello {
  agent: string;
  role: string;
  incarnation: number;
  protocol_min: number;
  protocol_max: number;
  heartbeat_ms: number;
  ephemeral: boolean;
  held: number[];
}

export interface Challenge {
  nonce: Uint8Array;
}

export interface Proof {
  hmac: Uint8Array;
}

export interface Welcome {
  session: string;
  heartbeat_ms: number;
  frame_size_max: number;
  requests_max: number;
  topics_address: string;
  broker_version: string;
  window: number;
  credit_messages_max: number;
  credit_bytes_max: number;
  lease_ms: number;
  epoch: string;
}

export type GoodbyeReason = 'superseded' | 'draining' | 'left' | 'expired';

export interface Goodbye {
  reason: string;
  reconnect_ms: number;
}

export interface FailureBody {
  code: string;
  text: string;
  retryable: boolean;
  retry_after_ms: number;
}

export interface OverlayState {
  state: string;
  version: string;
  items: number;
}

export interface AgentRecord {
  id: string;
  alias: string;
  role: string;
  model: string;
  project: string;
  scope: string[];
  overlays: Record<string, OverlayState>;
  capabilities: string[];
  protocol_versions: string[];
}

type AgentState = 'online' | 'stale' | 'offline';

export interface AgentView {
  record: AgentRecord;
  state: AgentState;
  last_seen_ms: number;
  load: number;
}

export interface AgentsQuery {
  role: string;
  project: string;
  after: string;
  limit: number;
}

export interface AgentsAnswer {
  agents: AgentView[];
  next: string;
}

export interface StatusAnswer {
  version: string;
  state: string;
  started_ms: number;
  pid: number;
  sessions: number;
  agents_online: number;
  agents_known: number;
  requests_open: number;
  services: { name: string; agents: string[] }[];
  frames_in: number;
  frames_out: number;
  frames_corrupt: number;
  rss_bytes: number;
  messages: number;
  message_bytes: number;
  leases: number;
  dead_letters: number;
  oldest_ms: number;
  accepted: number;
  delivered: number;
  settled: number;
  redelivered: number;
  duplicates: number;
  publications: number;
  refused: Record<string, number>;
  accept_p50_ms: number;
  accept_p99_ms: number;
  loop_lag_ms: number;
  store_state: string;
}

export interface PresenceEvent {
  change: 'joined' | 'left' | 'lost' | 'updated';
  agent: AgentView;
}

export interface Settle {
  seqs: number[];
  delay_ms: number;
  reason: string;
  untouched: boolean;
}

export interface Credit {
  mailbox: string;
  messages: number;
  bytes: number;
}

export interface Take {
  mailbox: string;
  from: string;
  correlation: string;
  lifo: boolean;
}

export type MessageState = 'waiting' | 'scheduled' | 'leased' | 'dead';

export interface MessageView {
  seq: number;
  id: string;
  from: string;
  mailbox: string;
  type: string;
  correlation: string;
  order_key: string;
  bytes: number;
  state: MessageState;
  attempts: number;
  stored_ms: number;
  due_ms: number;
  expires_ms: number;
  reason: string;
  dead_ms: number;
  reply_to: string;
  more: boolean;
}

export interface MessagesQuery {
  mailbox: string;
  after: number;
  limit: number;
}

export interface MessagesAnswer {
  messages: MessageView[];
  next: number;
  depth: number;
  bytes: number;
}

export interface MessageQuery {
  seq: number;
  from: string;
  id: string;
}

export interface MessageAnswer {
  view: MessageView;
  body: Uint8Array;
}

export interface MailboxView {
  mailbox: string;
  depth: number;
  bytes: number;
  leases: number;
  dead: number;
  oldest_ms: number;
}

export interface MessagesAdmin {
  mailbox: string;
  seqs: number[];
}

export interface BackupAnswer {
  entries: number;
  bytes: number;
  elapsed_ms: number;
}

export interface StreamPosition {
  stream: string;
  seq: number;
}

export interface TopicsQuery {
  pattern: string;
  seen: StreamPosition[];
  after: string;
  positions_only: boolean;
}

export interface Publication {
  topic: string;
  stream: string;
  seq: number;
  frame: Uint8Array;
}

export interface TopicsAnswer {
  entries: Publication[];
  streams: StreamPosition[];
  next: string;
}

export interface BlobRef {
  sha256: string;
  bytes: number;
  owner: string;
}

export interface BlobRange {
  sha256: string;
  offset: number;
  length: number;
}

export const helloCodec = codec<Hello>(bus.Hello);
export const challengeCodec = codec<Challenge>(bus.Challenge);
export const proofCodec = codec<Proof>(bus.Proof);
export const welcomeCodec = codec<Welcome>(bus.Welcome);
export const goodbyeCodec = codec<Goodbye>(bus.Goodbye);
const failureCodec = codec<FailureBody>(bus.Failure);
/** Body of REJECT and of replies of type `error`. */
export const encodeFailure = (error: BusError): Buffer =>
  failureCodec.encode({ retry_after_ms: 0, ...error.toFailure() });
export const decodeFailure = (body: Uint8Array): FailureBody => failureCodec.decode(body);
export const agentRecordCodec = codec<AgentRecord>(bus.AgentRecord);
export const offerCodec = codec<{ services: string[] }>(bus.Offer);
export const agentsQueryCodec = codec<AgentsQuery>(bus.AgentsQuery);
export const agentsAnswerCodec = codec<AgentsAnswer>(bus.AgentsAnswer);
export const statusAnswerCodec = codec<StatusAnswer>(bus.StatusAnswer);
export const presenceCodec = codec<PresenceEvent>(bus.PresenceEvent);
export const settleCodec = codec<Settle>(bus.Settle);
export const creditCodec = codec<Credit>(bus.Credit);
/** Also the value of an index entry on disk. */
export const messageViewCodec = codec<MessageView>(bus.MessageView);
export const messagesQueryCodec = codec<MessagesQuery>(bus.MessagesQuery);
export const messagesAnswerCodec = codec<MessagesAnswer>(bus.MessagesAnswer);
export const messageQueryCodec = codec<MessageQuery>(bus.MessageQuery);
export const messageAnswerCodec = codec<MessageAnswer>(bus.MessageAnswer);
export const takeCodec = codec<Take>(bus.Take);
export const mailboxesAnswerCodec = codec<{ mailboxes: MailboxView[] }>(bus.MailboxesAnswer);
export const messagesAdminCodec = codec<MessagesAdmin>(bus.MessagesAdmin);
export const countAnswerCodec = codec<{ count: number }>(bus.CountAnswer);
export const backupRequestCodec = codec<{ folder: string }>(bus.BackupRequest);
export const backupAnswerCodec = codec<BackupAnswer>(bus.BackupAnswer);
export const topicsQueryCodec = codec<TopicsQuery>(bus.TopicsQuery);
export const topicsAnswerCodec = codec<TopicsAnswer>(bus.TopicsAnswer);
export const blobRefCodec = codec<BlobRef>(bus.BlobRef);
export const blobRangeCodec = codec<BlobRange>(bus.BlobRange);

/** Bytes of one agent's registry record; larger things are sent on request. */
export const recordBytesMax = 4_096;
/** A page of `agents`, unless the caller wants less. 200 records of 4 KiB fit a frame. */
export const agentsPageMax = 200;
