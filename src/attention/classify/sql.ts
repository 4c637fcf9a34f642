import type { Policy } from './policy.js';
import type { Signal } from '../shapes.js';

/** Statements are known by their leading keyword, not by words in their texts. */

export interface StatementRisk {
  signal: Signal;
  irreversible: boolean;
  rule: string;
  statement: string;
}

/** Statements of one text that are looked at; more of them are opaque. */
const statementsMax = 2_000;

/** The risks of a text in SQL; also of what psql's and sqlite's own commands do to the machine. */
export function sqlRisks(source: string, policy: Policy['databases']): StatementRisk[] {
  const risks: StatementRisk[] = [];
  const { own, rest } = withoutOwnCommands(source);
  for (const line of own) if (isDangerousOwn(line)) risks.push(opaque('database-shell', line));
  const statements = statementsOf(rest);
  for (const statement of statements.slice(0, statementsMax)) {
    const risk = riskOf(statement, policy);
    if (risk !== undefined) risks.push(risk);
  }
  if (statements.length > statementsMax) risks.push(opaque('too-many-statements', ''));
  return risks;
}

function riskOf(
  { code, text }: { code: string; text: string },
  policy: Policy['databases'],
): StatementRisk | undefined {
  const words = code.toUpperCase().match(/[A-Z_]+|\(|\)/g) ?? [];
  const effective = effectiveKeyword(words);
  if (effective === undefined) return undefined;
  if (policy.irreversible.includes(effective))
    return { signal: 'Irreversibility', irreversible: true, rule: 'sql-destroys', statement: text };
  if (policy.security.includes(effective))
    return { signal: 'SecurityBoundary', irreversible: false, rule: 'sql-rights', statement: text };
  if (policy.mutation.includes(effective))
    return { signal: 'ExternalMutation', irreversible: false, rule: 'sql-writes', statement: text };
  if (!policy.reads.includes(effective)) return opaque('sql-unknown', text);
  const hasEffect =
    /\bINTO\s+(?:OUTFILE|DUMPFILE|TEMP|[A-Z_"`[])|\b(?:PG_TERMINATE_BACKEND|LO_UNLINK|PG_READ_FILE|LOAD_FILE|XP_CMDSHELL|DBLINK_EXEC|SYS_EXEC|LOAD_EXTENSION)\s*\(/i;
  return effective === 'SELECT' && hasEffect.test(code)
    ? { signal: 'ExternalMutation', irreversible: false, rule: 'sql-writes', statement: text }
    : undefined;
}

/** Behind EXPLAIN ANALYZE and WITH … AS ( … ) stands what is done. */
function effectiveKeyword(words: readonly string[]): string | undefined {
  const plain = words.filter((word) => word !== '(' && word !== ')');
  const [first] = plain;
  const changing = ['DELETE', 'UPDATE', 'INSERT', 'MERGE'];
  if (first === 'EXPLAIN' && (plain[1] === 'ANALYZE' || plain[1] === 'ANALYSE'))
    return plain.slice(2).find((word) => changing.includes(word)) ?? first;
  if (first === 'WITH') return plain.find((word) => changing.includes(word)) ?? 'SELECT';
  if (first === 'PREPARE' || first === 'DECLARE')
    return plain.find((word) => changing.includes(word)) ?? first;
  return first;
}

function opaque(rule: string, statement: string): StatementRisk {
  return { signal: 'Emergent', irreversible: true, rule, statement };
}

/** `\!`, `.shell`: they are not SQL. */
function withoutOwnCommands(source: string): { own: string[]; rest: string } {
  const own: string[] = [];
  const rest: string[] = [];
  for (const line of source.split('\n'))
    if (/^\s*(?:\\[a-z!?]|\.[a-z]+)/i.test(line)) own.push(line.trim());
    else rest.push(line);
  return { own, rest: rest.join('\n') };
}

function isDangerousOwn(line: string): boolean {
  return /^(?:\\!|\\i\b|\\ir\b|\\o\b|\\copy\b|\\gexec|\\g\b|\\w\b|\.(?:shell|system|read|import|output|once|save|restore|load|clone|recover|backup|open|excel)\b)|\|/.test(
    line,
  );
}

/** Cut at semicolons that stand in no text and no comment; `code` is without both. */
function statementsOf(source: string): { code: string; text: string }[] {
  const statements: { code: string; text: string }[] = [];
  const pieces =
    /--[^\n]*|#[^\n]*|\/\*(?!!)[\s\S]*?(?:\*\/|$)|'(?:''|\\.|[^'\\])*(?:'|$)|"(?:""|[^"])*(?:"|$)|`[^`]*(?:`|$)|\$(\w*)\$[\s\S]*?(?:\$\1\$|$)|;|[^-#/'"`$;]+|[\s\S]/g;
  let code = '';
  let text = '';
  const end = (): void => {
    if (code.trim() !== '') statements.push({ code: code.trim(), text: text.trim() });
    code = '';
    text = '';
  };
  for (const [piece] of source.matchAll(pieces)) {
    if (piece === ';') {
      end();
      continue;
    }
    text += piece;
    if (/^--|^#|^\/\*/.test(piece)) code += ' ';
    else if (/^['"`]/.test(piece)) code += piece.startsWith("'") ? ' 0 ' : ` ${nameOnly(piece)} `;
    else code += piece.length > 1 && piece.startsWith('$') ? ' 0 ' : piece;
  }
  end();
  return statements;
}

/** A quoted name is no keyword. */
function nameOnly(piece: string): string {
  return piece.replace(/\w+/g, '0');
}
