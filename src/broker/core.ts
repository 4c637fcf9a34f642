import type { AuditOutcome } from '../base/audit.js';
import type { Clock } from '../base/clock.js';
import type { BusError } from '../errors/bus-error.js';
import type { Command, EnvelopeFields, Frame } from '../wire/frame.js';
import type {
  AgentRecord,
  AgentView,
  BackupAnswer,
  PresenceEvent,
  StatusAnswer,
} from '../wire/messages.js';
import type { AcceptLatency } from './mail/accept-latency.js';
import type { BrokerLimits } from './limits.js';
import type { StoredMessage } from './mail/mailbox.js';
import type { Mailboxes } from './mail/mailboxes.js';
import type { Registry } from './registry.js';
import type { Requests } from './requests.js';
import type { Session, Sessions } from './session/sessions.js';
import type { Topics } from './topics.js';

/** The part of the broker that commands use. */
export interface BrokerCore {
  readonly sessions: Sessions;
  readonly registry: Registry;
  readonly requests: Requests;
  readonly mailboxes: Mailboxes;
  readonly topics: Topics;
  readonly acceptLatency: AcceptLatency;
  readonly limits: BrokerLimits;
  readonly clock: Clock;
  readonly isDraining: boolean;
  /** False: the peer does not read and its outbox is full. */
  send(to: Session, frame: Frame): boolean;
  answer(
    to: Session,
    request: Frame,
    command: Command,
    body?: Buffer,
    fields?: EnvelopeFields,
  ): void;
  reject(to: Session, id: string, error: BusError): void;
  /** Adds to the registry and removes the agent that this displaces, if any. Throws TOO_LARGE, REGISTRY_FULL, STORE_UNAVAILABLE. */
  enroll(record: AgentRecord, isEphemeral: boolean): Promise<void>;
  /**
   * Removes the agent from the registry, ends its session and makes its waiting messages dead letters with
   * this reason. Throws STORE_UNAVAILABLE.
   */
  dismiss(agent: string, reason: string): Promise<void>;
  /** Whether this role must prove itself on this machine. No agent of another role may have its name. */
  isProvenRole(role: string): boolean;
  /** Whether agents of this role live without a process of their own: see `RoleRule.isHosted`. */
  isHostedRole(role: string | undefined): boolean;
  announce(change: PresenceEvent['change'], agent: string): void;
  view(agent: string): AgentView | undefined;
  status(): StatusAnswer;
  /** Records a message or its rejection. `to` is the recipient. */
  audit(what: AuditOutcome, from: Speaker, to: string, frame: Frame, code?: string): void;
  /** Records a stored message by its metadata, without its body. */
  auditStored(what: AuditOutcome, message: StoredMessage, code?: string): void;
  backup(folder: string): Promise<BackupAnswer>;
  compact(): Promise<void>;
}

/** An agent, and who uses it. */
export type Speaker = Pick<Session, 'agent' | 'person'>;

/** One command of a live session. Throws a BusError to have the frame rejected with it. */
export type CommandRun = (core: BrokerCore, session: Session, frame: Frame) => void | Promise<void>;
