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
}

export type GoodbyeReason = 'superseded' | 'draining' | 'left' | 'expired';

export interface Goodbye {
  reason: string;
}

export interface FailureBody {
  code: string;
  text: string;
  retryable: boolean;
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

export type AgentState = 'online' | 'stale' | 'offline';

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
}

export interface PresenceEvent {
  change: 'joined' | 'left' | 'lost' | 'updated';
  agent: AgentView;
}

export const helloCodec = codec<Hello>(bus.Hello);
export const challengeCodec = codec<Challenge>(bus.Challenge);
export const proofCodec = codec<Proof>(bus.Proof);
export const welcomeCodec = codec<Welcome>(bus.Welcome);
export const goodbyeCodec = codec<Goodbye>(bus.Goodbye);
export const failureCodec = codec<FailureBody>(bus.Failure);
export const agentRecordCodec = codec<AgentRecord>(bus.AgentRecord);
export const offerCodec = codec<{ services: string[] }>(bus.Offer);
export const agentsQueryCodec = codec<AgentsQuery>(bus.AgentsQuery);
export const agentsAnswerCodec = codec<AgentsAnswer>(bus.AgentsAnswer);
export const statusAnswerCodec = codec<StatusAnswer>(bus.StatusAnswer);
export const presenceCodec = codec<PresenceEvent>(bus.PresenceEvent);

/** At most this many bytes of one agent's registry record; larger things are asked for. */
export const recordBytesMax = 4_096;
/** A page of `agents`, unless the caller wants less. 200 records of 4 KiB fit a frame. */
export const agentsPageMax = 200;
