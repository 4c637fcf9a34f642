import type { Clock } from '../base/clock.js';
import type { BusError } from '../errors/bus-error.js';
import type { Command, EnvelopeFields, Frame } from '../wire/frame.js';
import type { AgentView, PresenceEvent, StatusAnswer } from '../wire/messages.js';
import type { BrokerLimits } from './limits.js';
import type { Registry } from './registry.js';
import type { Requests } from './requests.js';
import type { Session, Sessions } from './sessions.js';

/** What a command may use of the broker. */
export interface BrokerCore {
  readonly sessions: Sessions;
  readonly registry: Registry;
  readonly requests: Requests;
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
  announce(change: PresenceEvent['change'], agent: string): void;
  view(agent: string): AgentView | undefined;
  status(): StatusAnswer;
}

/** One command of a live session. Throws a BusError to have the frame rejected with it. */
export type CommandRun = (core: BrokerCore, session: Session, frame: Frame) => void | Promise<void>;
