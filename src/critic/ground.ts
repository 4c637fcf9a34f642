import type { Questions } from '../lattice/questions.js';
import type { Analyses } from '../pgc/analyse/analyses.js';

/** What a critic may ask of the code that an artifact is about: an index, and the tree as it is. */
export interface Ground {
  /** Of the tree, as a path of this machine. */
  root: string;
  /** Answers by index; its own limits and codes. */
  questions: Questions;
  /** Of the whole tree. */
  analyses: Analyses;
  /** Files of the tree from its root, with `/`, in order. Read once. */
  paths(): Promise<readonly string[]>;
  /** Text of a file of the tree; undefined: there is none, it is no text, or too large. Never outside the root. */
  read(path: string): Promise<string | undefined>;
  /** The same as the last commit has it; undefined also where no git is. */
  committed(path: string): Promise<string | undefined>;
}
