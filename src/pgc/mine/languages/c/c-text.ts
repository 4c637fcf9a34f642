/**
 * Rewrites C that a parser without a preprocessor cannot read. Every function returns a text of the same
 * length, so that offsets hold for the original as well.
 */
import { blanked } from '../../comment.js';
import { cKeywords } from './c-macros.js';

/** Characters of the arguments of an attribute, at most. */
const attributeCharsMax = 300;
/** Characters before an attribute that are searched for the `#` of a directive. */
const directiveCharsMax = 1_000;
/** Characters before a type that tell whether it is an argument. */
const nearbyChars = 60;

/** Macros that the compiler sees as attributes. Blanked with their arguments, if they have any. */
const attributes = new Set(
  (
    '__init __exit __initdata __exitdata __initconst __exitconst __init_or_module __net_init __net_exit ' +
    '__net_initdata __devinit __devexit __devinitdata __devexitdata __meminit __memexit __meminitdata ' +
    '__cpuinit __cpuexit __cpuinitdata __initdata_or_module __initdata_memblock __init_memblock ' +
    '__paginginit __ref __refdata __refconst __ro_after_init __read_mostly __latent_entropy __randomize_layout ' +
    '__no_randomize_layout __designated_init __always_unused __maybe_unused __unused __used __user __iomem ' +
    '__percpu __force __rcu __private __nocast __safe __bitwise __kernel __must_check __must_hold __visible ' +
    '__weak __cold __hot __pure __const __attribute_const__ __noreturn __malloc __alloc_size __realloc_size ' +
    '__assume_aligned __packed __aligned __aligned_largest __alias __section __printf __scanf __acquires ' +
    '__releases __cond_acquires __counted_by __counted_by_le __counted_by_be __always_inline ' +
    '__no_sanitize_or_inline __no_kasan_or_inline __no_kcsan __no_kmsan_checks __no_sanitize_address ' +
    '__no_sanitize_memory __no_sanitize_thread __no_sanitize_undefined __no_sanitize_coverage __no_sanitize ' +
    '__no_stack_protector __no_profile __nocfi __noscs __noretpoline __noclone __noipa __nonstring __flatten ' +
    '__naked __gnu_inline __overloadable __pass_object_size __sched __kprobes __lockfunc __deprecated ' +
    '__uninitialized __cpumask_var_read_mostly __cacheline_aligned __cacheline_aligned_in_smp ' +
    '____cacheline_aligned ____cacheline_aligned_in_smp ____cacheline_internodealigned_in_smp ' +
    '__page_aligned_data __page_aligned_bss __irq_entry __softirq_entry __exception_irq_entry __fix_address ' +
    '__bpf_kfunc __nosavedata __attribute__ __attribute __stringify_attr __extension__ __cleanup __copy ' +
    '__ARG_PTR __no_caller_saved_registers __diagnose_as __indirect_jump __ptr32 __ptr64 __declspec __cdecl ' +
    '__stdcall __restrict __restrict__ __inline_maybe_unused __entry_text __rodata __vdso __initbss ' +
    'noinline noinline_for_stack noinline_for_tracing noinline_noreturn noinstr notrace asmlinkage ' +
    'nokprobe_inline cacheline_aligned __noinline __tracing_reentrant noderef __section_text __ec_align1 __ec_align2 __ec_align4 __ec_align_size1 __ec_align_offset1 ' +
    '__ec_align_offset2 __ec_todo_packed __ec_todo_unpacked __bpf_percpu_val_align'
  ).split(' '),
);
const pointerHead = /^\(\s*\*/;
const attributePattern =
  /\b(?:_{2,4}[a-zA-Z][a-zA-Z0-9_]*|noin\w+|notrace|asmlinkage|nokprobe_inline|noderef)\b/g;

export function isAttribute(name: string): boolean {
  return attributes.has(name);
}

/** The text as the C grammar understands it best. */
export function readable(text: string): string {
  let rewritten = withoutAttributes(text);
  // Most files have none of these; looking for the word first is ten times cheaper than the pattern.
  if (rewritten.includes('SYSCALL') || rewritten.includes('BPF_CALL_'))
    rewritten = withPlainHeads(rewritten);
  return (
    rewritten
      .replace(attributeBeforeName, blankBeforeName)
      .replace(numbersBeforeName, blankBeforeName)
      .replace(wordBeforeName, blankBeforeName)
      // `static DECLARE_WORK(a, b);`: without `static` it is a call, with it nothing the grammar knows.
      .replace(/^static(?=\s+[A-Z][A-Z0-9_]*\s*\(\s*\w+\s*,)/gm, blanked)
      .replace(
        /\b(?:struct|union|enum|unsigned|signed)\b(?=\s{1,50}\w+(?:\s{0,50}\*)?\s{0,50}[,)])/g,
        blankAsArgument,
      )
  );
}

/** `static void printflike(1, 0) log_write(…) {`: between a type and a name only an attribute has brackets, and its arguments no types. */
const attributeBeforeName =
  /^([A-Za-z_][\w \t*]*[ \t*\n])([A-Za-z_]\w*[ \t]{0,8}\((?![ \t]*void[ \t]*\))[ \t]*\w*(?:[ \t]*,[ \t]*\w+){0,8}[ \t]*\))(?=\s{1,20}\**([A-Za-z_]\w*)[ \t]{0,8}\((?:[^;{}]{0,2000}?)\)\s{0,100}\{)/gm;
/** `void printflike(1, 2) log_write(…);`: a prototype too, because nothing takes numbers as parameters. */
const numbersBeforeName =
  /^([A-Za-z_][\w \t*]{0,200}[ \t*])([A-Za-z_]\w*[ \t]{0,8}\([ \t]*\d+(?:[ \t]*,[ \t]*\d+){0,8}[ \t]*\))(?=\s{1,20}\**([A-Za-z_]\w*)[ \t]{0,8}\()/gm;
/** `char * cdecl copy(…)`: between a star and a name stands a qualifier, or a macro for something like it. */
const wordBeforeName =
  /^([A-Za-z_][\w \t]{0,200}\*[ \t*]{0,8})(?!(?:const|volatile|restrict)\b)([A-Za-z_]\w*)(?=\s{1,20}([A-Za-z_]\w*)[ \t]{0,8}\()/gm;
const noHead =
  /\b(?:return|else|goto|case|typedef|struct|union|enum|do|if|while|for|switch|define)\b/;

function blankBeforeName(whole: string, type: string, attribute: string, name: string): string {
  const [word = ''] = /^\w+/.exec(attribute) ?? [];
  const isOther = noHead.test(type) || cKeywords.has(word) || cKeywords.has(name);
  return isOther ? whole : type + blanked(attribute);
}

const takesType =
  /(?:(?:^|\n)[ \t][^\n]*\b[A-Z][A-Z0-9_]*|[a-z]\w*_(?:t|entry|type|field)|\n[ \t]+\w+)\s*\(\s*$/;

/**
 * `container_of(p, struct page, lru)`, `min_t(unsigned int, a, b)`: a type where the grammar wants an
 * expression. A type after a comma is an argument or a parameter without a name, which loses little;
 * the first one in a list is one only where the name of the macro says that it takes a type, or where
 * no prototype can stand: behind capitals in an indented line, or at its start.
 */
function blankAsArgument(found: string, at: number, text: string): string {
  const before = text.slice(Math.max(0, at - nearbyChars), at);
  const isArgument = /,\s*$/.test(before) || takesType.test(before);
  return isArgument ? blanked(found) : found;
}

function withoutAttributes(text: string): string {
  const pieces: string[] = [];
  let copied = 0;
  attributePattern.lastIndex = 0;
  for (
    let found = attributePattern.exec(text);
    found !== null;
    found = attributePattern.exec(text)
  ) {
    if (!attributes.has(found[0]) || isInDirective(text, found.index)) continue;
    const end = argumentsEnd(text, found.index + found[0].length);
    // Line breaks stay: the text between two offsets keeps its lines.
    pieces.push(text.slice(copied, found.index), blanked(text.slice(found.index, end)));
    copied = end;
    attributePattern.lastIndex = end;
  }
  return copied === 0 ? text : pieces.join('') + text.slice(copied);
}

/** `#define __init …` must keep its name. */
function isInDirective(text: string, at: number): boolean {
  const line = text.slice(Math.max(0, at - directiveCharsMax), at);
  return /^\s*#/.test(line.slice(line.lastIndexOf('\n') + 1));
}

/** Offset behind a balanced `(…)` at `at`, or `at` when there is none nearby. */
function argumentsEnd(text: string, at: number): number {
  let from = at;
  while (text.charAt(from) === ' ') from += 1;
  // What a pointer to a function begins with is no argument: `void __noreturn (*stop)(void)`.
  if (text.charAt(from) !== '(' || pointerHead.test(text.slice(from, from + nearbyChars)))
    return at;
  let depth = 0;
  for (let each = from; each < Math.min(text.length, from + attributeCharsMax); each += 1) {
    const sign = text.charAt(each);
    if (sign === '(') depth += 1;
    else if (sign === ')') {
      depth -= 1;
      if (depth === 0) return each + 1;
    } else if (sign === ';' || sign === '{' || sign === '}') return at;
  }
  return at;
}

/**
 * `SYSCALL_DEFINE3(read, unsigned int, fd, …)` defines `sys_read`, `COMPAT_SYSCALL_DEFINE` defines
 * `compat_sys_…`, `BPF_CALL_2(name, …)` defines `name`. Their heads become plain C heads of the same
 * length: type and name of a parameter are joined where the macro wants a comma.
 */
function withPlainHeads(text: string): string {
  return text.replace(
    /^((COMPAT_)?SYSCALL(?:32)?_DEFINE|BPF_CALL_)(\d)\(\s{0,50}(\w+)\b(?:\s{0,50},)?([^;{}]{0,1000}?)\)(?=\s{0,100}\{)/gm,
    (whole: string, macro: string, compat: string | undefined, _n, name: string, rest: string) => {
      const type = macro === 'BPF_CALL_' ? 'u64' : 'long';
      const prefix = macro === 'BPF_CALL_' ? '' : compat === undefined ? 'sys_' : 'compat_sys_';
      let comma = 0;
      const parameters = rest.replace(/,/g, () => ((comma += 1) % 2 === 1 ? ' ' : ','));
      const head = `${type} ${prefix}${name}(`;
      const room = whole.length - rest.length - 1 - head.length;
      return room < 0 ? whole : `${head}${' '.repeat(room)}${parameters})`;
    },
  );
}
