import { wordsOf } from '../../pgc/format/words.js';
import type { TermIndex } from '../../pgc/format/term-index.js';
import type { Answer, AskRequest, LatticeQuery } from '../../pgc/shapes.js';
import type { Journal } from '../query/journal.js';
import type { Lattice } from '../lattice.js';
import { LatticeQuestions, type AskingOptions } from '../questions.js';
import type { KnownWords, Prose } from './port.js';

/** Answers from a lattice, worded by a language model where there is one. */
export class ProseQuestions extends LatticeQuestions {
  readonly #prose: Prose;

  constructor(prose: Prose, ...parts: ConstructorParameters<typeof LatticeQuestions>) {
    super(...parts);
    this.#prose = prose;
  }

  override ask(request: AskRequest, options: AskingOptions): Promise<Answer> {
    return this.#prose.ask(request, options, {
      answer: (its, within) => super.ask(its, within),
      known: wordsIn(this.lattice),
    });
  }

  override query(
    request: LatticeQuery,
    { journal, ...options }: AskingOptions & { journal?: Journal },
  ): Promise<Answer> {
    return this.#prose.query(request, options, {
      // A model's hints differ each time: only the original request has a journal.
      answer: (its, within) =>
        super.query(its, { ...within, ...(its === request && journal && { journal }) }),
      known: wordsIn(this.lattice),
    });
  }
}

/** The tables of a lattice are made at the first lookup. */
function wordsIn(lattice: Lattice): KnownWords {
  return (words) => {
    const { names, directory } = lattice;
    const stands = (term: string | undefined): boolean =>
      term !== undefined && names.documentsWith(term).some((documents) => documents > 0);
    return words.filter((word) => stands(termOf(word)) || directory.ownersOf(word).length > 0);
  };
}

/** Of one shard. */
export function wordsOfShard(index: TermIndex): KnownWords {
  return (words) =>
    words.filter((word) => {
      const term = termOf(word);
      return term !== undefined && index.documentFrequency(term) > 0;
    });
}

/** The term by which an index knows a word as a whole; undefined: it is none. */
function termOf(word: string): string | undefined {
  const terms = wordsOf(word);
  return terms.find((each) => each === word.toLowerCase()) ?? terms[0];
}
