import type { BusError } from '../errors/bus-error.js';
import { bus, codec, type Plain, type sigma } from './codec.js';

/** Bodies of the bus's own frames, as plain objects. Fields are explained in `proto/bus.proto`. */

export type Hello = Plain<sigma.bus.Hello>;
export type Challenge = Plain<sigma.bus.Challenge>;
export type Proof = Plain<sigma.bus.Proof>;
export type Welcome = Plain<sigma.bus.Welcome>;

export type GoodbyeReason = 'superseded' | 'draining' | 'left' | 'expired';

export type Goodbye = Plain<sigma.bus.Goodbye>;
export type FailureBody = Plain<sigma.bus.Failure>;
export type AgentRecord = Plain<sigma.bus.AgentRecord>;

type AgentState = 'online' | 'stale' | 'offline';

export type AgentView = Plain<sigma.bus.AgentView, { state: AgentState }>;
export type AgentsQuery = Plain<sigma.bus.AgentsQuery>;
export type AgentsAnswer = Plain<sigma.bus.AgentsAnswer, { agents: AgentView[] }>;
export type StatusAnswer = Plain<sigma.bus.StatusAnswer>;
export type PresenceEvent = Plain<
  sigma.bus.PresenceEvent,
  { change: 'joined' | 'left' | 'lost' | 'updated'; agent: AgentView }
>;
export type Settle = Plain<sigma.bus.Settle>;
export type Credit = Plain<sigma.bus.Credit>;
export type Take = Plain<sigma.bus.Take>;

export type MessageState = 'waiting' | 'scheduled' | 'leased' | 'dead';

export type MessageView = Plain<sigma.bus.MessageView, { state: MessageState }>;
export type MessagesQuery = Plain<sigma.bus.MessagesQuery>;
export type MessagesAnswer = Plain<sigma.bus.MessagesAnswer, { messages: MessageView[] }>;
export type MessageQuery = Plain<sigma.bus.MessageQuery>;
export type MessageAnswer = Plain<sigma.bus.MessageAnswer, { view: MessageView }>;
export type MailboxView = Plain<sigma.bus.MailboxView>;
export type MessagesAdmin = Plain<sigma.bus.MessagesAdmin>;
export type BackupAnswer = Plain<sigma.bus.BackupAnswer>;
export type StreamPosition = Plain<sigma.bus.StreamPosition>;
export type TopicsQuery = Plain<sigma.bus.TopicsQuery>;
export type Publication = Plain<sigma.bus.Publication>;
export type TopicsAnswer = Plain<sigma.bus.TopicsAnswer>;
export type BlobRef = Plain<sigma.bus.BlobRef>;
export type BlobRange = Plain<sigma.bus.BlobRange>;

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
/** Capability of an agent that answers requests and reads no messages: none is taken for it. */
export const noMail = 'no_mail';
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
