import { BusError } from '../../errors/bus-error.js';
import { conflictChoices, resolved, tasksIn, type ConflictChoice } from './materialise.js';
import { questionOf, sessionState, type SessionTold } from './record.js';
import type { SessionRecord } from './session-record.js';
import { isProtocol, readCast, readTasks } from './request.js';
import { sessionLimits, type Answer, type Protocol, type QuestionKind } from './shapes.js';
import { augmented, restructured, retained } from './team.js';
import { escaped } from './trace.js';

export interface Said {
  /** The question that is answered; 0: whichever is open. */
  number: number;
  choice: string;
  text: string;
}

/**
 * What follows from an answer. Throws ATTEND_STATE where nothing is asked, or another question by now; USAGE for what is
 * none of its options; ATTEND_INVALID, TOO_LARGE of its text.
 */
export function answered(
  record: SessionRecord,
  { number, choice, text }: Said,
  by: string,
  nowMs: number,
): SessionTold {
  const question = questionOf(record);
  const state = sessionState(record);
  const isOther = question !== undefined && number !== 0 && number !== question.number;
  if (question === undefined || isOther) {
    const what = isOther ? `an answer to question ${number}` : 'an answer';
    throw new BusError('ATTEND_STATE', { context: record.id, state, what });
  }
  if (text.length > sessionLimits.textChars)
    throw new BusError('TOO_LARGE', {
      ...{
        what: 'an answer',
        bytes: text.length,
        unit: 'characters',
        limit: sessionLimits.textChars,
      },
    });
  const option = question.options.find((each) => each.choice === choice);
  if (option === undefined)
    throw usage(`choose ${question.options.map((each) => each.choice).join(', ')}`);
  if (option.needs !== '' && text.trim() === '') throw usage(`${choice} needs ${option.needs}`);
  const answer: Answer = {
    ...{ number: question.number, kind: question.kind, choice, text, by, at_ms: nowMs },
  };
  const outcome = byKind[question.kind](record, choice, text);
  const answers = [...record.answers, answer].slice(-sessionLimits.answers);
  return { event: outcome.event, patch: { ...outcome.patch, answers } };
}

type Answering = (record: SessionRecord, choice: string, text: string) => SessionTold;

const byKind: Readonly<Record<QuestionKind, Answering>> = {
  upstream: routed,
  restore: (record, choice, text) =>
    choice === 'restore' ? restoredWith(record, text.trim()) : escapedFrom(record),
  conflict: (record, choice) => ({
    event: { type: 'tasks.confirmed' },
    patch: { drafts: resolved(conflictChoice(choice), record) },
  }),
  confirm_boundary: confirmed,
  confirm: confirmed,
  team: teamed,
  augment: ({ asked, cast }, choice) =>
    choice === 'confirm' && asked.team !== null
      ? { event: { type: 'team.decided' }, patch: { team: augmented(asked.team, cast), cast: [] } }
      : { event: { type: 'roles.refused' }, patch: { cast: [] } },
  classification: planned,
  plan: planned,
};

/** Source: `RouteDecision = Proceed | Route(ProtocolId) | Other(ProtocolId)`. */
function routed(record: SessionRecord, choice: string, text: string): SessionTold {
  if (choice === 'proceed') return { event: { type: 'upstream.proceeded' }, patch: {} };
  const { deficits, resolved: known } = record;
  const [first] = deficits;
  const said = text.trim().replace(/^\//, '');
  const wanted = said === '' && choice === 'route' ? (first?.protocol ?? '') : said;
  if (!isProtocol(wanted)) throw usage(`there is no upstream protocol ${wanted}`);
  if (known.includes(wanted)) throw usage(`/${wanted} has been here already`);
  const listed = deficits.find(({ protocol }) => protocol === wanted);
  if (choice === 'route' && listed === undefined)
    throw usage(`/${wanted} is not listed: choose other`);
  const suspended = {
    protocol: wanted,
    how: choice === 'route' ? ('route' as const) : ('other' as const),
    deficit: (choice === 'route' ? listed : first)?.deficit ?? '',
  };
  return { event: { type: 'upstream.routed' }, patch: { suspended, note: `${choice} /${wanted}` } };
}

/** Source: re-scan with Resolved ∪ {P}, of Other(P) with Resolved ∪ {P, d.deficit}. */
function restoredWith(record: SessionRecord, text: string): SessionTold {
  const { suspended, resolved: known, brought } = record;
  const protocol: Protocol = suspended?.protocol ?? 'clarify';
  const more = suspended?.how === 'other' && suspended.deficit !== '' ? [suspended.deficit] : [];
  return {
    event: { type: 'upstream.restored' },
    patch: {
      suspended: null,
      resolved: [...new Set([...known, protocol, ...more])],
      brought: [...brought, { protocol, text }],
    },
  };
}

/** During an upstream protocol: the loop is left, not the session. Anywhere else the session is deactivated. */
export function escapedFrom(record: SessionRecord): SessionTold {
  const isUpstream = ['routing', 'suspended'].includes(sessionState(record));
  const event = { type: 'session.escaped' } as const;
  if (isUpstream) return { event, patch: { suspended: null, note: 'upstream was left' } };
  return { event, patch: { rows: escaped(record.rows) } };
}

function confirmed(_: SessionRecord, choice: string, text: string): SessionTold {
  if (choice === 'cancel') return { event: { type: 'tasks.declined' }, patch: {} };
  const event = { type: 'tasks.confirmed' } as const;
  return { event, patch: choice === 'replace' ? { drafts: otherTasks(text) } : {} };
}

function otherTasks(text: string): SessionRecord['drafts'] {
  return /^\s*\[/.test(text) ? readTasks(jsonOf(text)) : tasksIn(text, 'task');
}

function teamed({ asked: { team } }: SessionRecord, choice: string, text: string): SessionTold {
  if (team === null) throw usage('there is no team');
  const event = { type: 'team.decided' } as const;
  if (choice === 'retain') return { event, patch: { team: retained(team) } };
  const { roles, retained: names } = readCast(jsonOf(text));
  if (choice === 'restructure') return { event, patch: { team: restructured(team, names, roles) } };
  // Checked before a person is asked about it.
  augmented(team, roles);
  return { event: { type: 'roles.proposed' }, patch: { cast: roles } };
}

function planned(_: SessionRecord, choice: string): SessionTold {
  return choice === 'delegate'
    ? { event: { type: 'plan.agreed' }, patch: {} }
    : { event: { type: 'session.withdrawn', reason: 'ATTEND_WITHDRAWN' }, patch: {} };
}

function conflictChoice(choice: string): ConflictChoice {
  const known = conflictChoices.find((each) => each === choice);
  if (known === undefined) throw usage(`choose ${conflictChoices.join(', ')}`);
  return known;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BusError('ATTEND_INVALID', {
      detail: error instanceof Error ? error.message : 'not JSON',
    });
  }
}

function usage(detail: string): BusError {
  return new BusError('USAGE', { detail });
}
