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
import type { Letter } from './mailbox.js';
import type { Mailboxes } from './mailboxes.js';
import type { Registry } from './registry.js';
import type { Requests } from './requests.js';
import type { Session, Sessions } from './session/sessions.js';
import type { Topics } from './topics.js';

/** What a command may use of the broker. */
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
  /** Into the registry, and out of it whom that displaces. Throws TOO_LARGE, REGISTRY_FULL, STORE_UNAVAILABLE. */
  enroll(record: AgentRecord, isEphemeral: boolean): Promise<void>;
  /**
   * Out of the registry; whoever is connected under this name is sent away, what waits for it becomes dead letters with this
   * reason. Throws STORE_UNAVAILABLE.
   */
  dismiss(agent: string, reason: string): Promise<void>;
  /** Whether this role must prove itself on this machine; nobody else is called like it. */
  isProvenRole(role: string): boolean;
  announce(change: PresenceEvent['change'], agent: string): void;
  view(agent: string): AgentView | undefined;
  status(): StatusAnswer;
  /** What passed between two agents, or was refused. `to`: who got it. */
  audit(what: AuditOutcome, from: string, to: string, frame: Frame, code?: string): void;
  /** The same of a stored message, of which only the name is at hand. */
  auditLetter(what: AuditOutcome, letter: Letter, code?: string): void;
  backup(folder: string): Promise<BackupAnswer>;
  compact(): Promise<void>;
}

/** One command of a live session. Throws a BusError to have the frame rejected with it. */
export type CommandRun = (core: BrokerCore, session: Session, frame: Frame) => void | Promise<void>;
