import type { CodedError, HopAnswer } from '../../pgc/shapes.js';
import type { LinkOffer } from './hop-choice.js';
import type { QueryStep } from './journal.js';
import type { Link } from './links.js';
import type { QueryEvent } from './query.machine.js';

export interface Finding {
  answer: HopAnswer;
  /** The link that led there; undefined: found by search. */
  via: Link | undefined;
  elapsedMs: number;
}

/** The results of a query so far; the machine holds only what decides the next step. */
export class Findings {
  readonly links = new Map<string, Link>();
  readonly answers = new Map<string, Finding>();
  readonly asked = new Set<string>();
  readonly errors: CodedError[];
  #keptErrors: number;
  #keptAsked = 0;

  constructor(errors: CodedError[]) {
    this.errors = errors;
    this.#keptErrors = errors.length;
  }

  /** The journal step of an event, with the errors and requests since the previous one. */
  stepOf(event: QueryEvent): QueryStep {
    const errors = this.errors.slice(this.#keptErrors);
    const asked = [...this.asked].slice(this.#keptAsked);
    this.#keptErrors += errors.length;
    this.#keptAsked += asked.length;
    const isAnswer = event.type === 'probe.answered' || event.type === 'hop.answered';
    const finding = isAnswer ? this.answers.get(event.agent) : undefined;
    const links = isAnswer ? event.links.flatMap(({ id }) => this.links.get(id) ?? []) : [];
    return {
      event: isAnswer ? { ...event, links: event.links.map(offerOf) } : event,
      answered:
        finding === undefined || !isAnswer
          ? null
          : {
              ...{ agent: event.agent, answer: withoutReferences(finding.answer) },
              ...{ via: finding.via?.id ?? '', elapsedMs: finding.elapsedMs },
            },
      links: links.map(withoutIncludes),
      errors,
      asked,
    };
  }

  /** Restores the results of a step of an earlier process. */
  take({ answered, links, errors, asked }: QueryStep): void {
    for (const link of links) this.links.set(link.id, link);
    for (const agent of asked) this.asked.add(agent);
    this.errors.push(...errors);
    this.#keptErrors = this.errors.length;
    this.#keptAsked = this.asked.size;
    if (answered === null) return;
    const { agent, answer, via, elapsedMs } = answered;
    this.answers.set(agent, { answer, via: this.links.get(via), elapsedMs });
  }
}

/** What the machine needs of a link. */
function offerOf(link: LinkOffer): LinkOffer {
  const { id, agent, from, target, relevance, covers, continues, passes } = link;
  return { id, agent, from, target, relevance, covers, continues, passes };
}

/** They were made into links. */
function withoutReferences(answer: HopAnswer): HopAnswer {
  return { ...answer, references: [] };
}

/** They have decided what the call means. */
function withoutIncludes(link: Link): Link {
  return { ...link, reference: { ...link.reference, includes: [] } };
}
