/** HARD must not be broken, MEDIUM should not, SOFT is advice (the enforcement tiers of jerry's quality standard). */
export const levels = ['HARD', 'MEDIUM', 'SOFT'] as const;
export type Level = (typeof levels)[number];

/** What a machine can see of a rule. Patterns: regular expressions without look-around and back-references, for a line. */
export type RuleCheck =
  /** Stands in a line at least. */
  | { kind: 'pattern'; pattern: string }
  /** Stands in no line. */
  | { kind: 'absent'; pattern: string }
  /** A heading has this title, at any level, in any case, with any number. */
  | { kind: 'required_section'; title: string }
  | { kind: 'max_lines'; lines: number }
  /** Where the artifact has to lie. */
  | { kind: 'path_glob'; glob: string };

export interface Rule {
  id: string;
  level: Level;
  text: string;
  /** Of the rule file. */
  file: string;
  line: number;
  /** All of them have to hold; empty: only a reader can judge it. */
  checks: RuleCheck[];
  /** Paths of the artifacts that it is for; empty: all. */
  appliesTo: string[];
  /** Its file governs how work is done: to break it ends a review of criticality C3 and above. */
  isGovernance: boolean;
}

export interface RuleBook {
  rules: Rule[];
  /** Rules that could not be read, each with its file and why. */
  unread: string[];
}
