import type { FactsLanguage } from '../../format/facts.js';

/**
 * Rules of O2, in the form that a repository may give its own in (`rule-file.ts`). A rule names
 * calls; `unless` and `when` look at what stands in their brackets. Weaknesses are those of CWE 4.x.
 */
export interface SecurityRule {
  id: string;
  languages: readonly FactsLanguage[];
  /** Names of what is called. */
  calls: readonly string[];
  /** What the call must be made on, as a pattern of the whole receiver. */
  on?: string | undefined;
  /** The arguments must match it. */
  when?: string | undefined;
  /** They must not. */
  unless?: string | undefined;
  /** The call does not count inside a macro: the code that uses the macro decides its arguments. */
  outsideMacros?: boolean;
  /** Nor when its only argument is a string of this very text. */
  unlessConstant?: boolean;
  /** `info`: the place protects; it is listed so that a reader finds where, and where not. */
  severity: Severity;
  /** The weakness; of `info`, the one that the place guards against. */
  cwe: string;
  /** What a reader should think of. */
  text: string;
  /** The file of the repository that it stands in; shipped ones have none. */
  origin?: string;
}

export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;
export type Severity = (typeof severities)[number];

const c: readonly FactsLanguage[] = ['c', 'cpp'];
const es: readonly FactsLanguage[] = ['javascript', 'typescript', 'tsx'];
const python: readonly FactsLanguage[] = ['python'];
const go: readonly FactsLanguage[] = ['go'];
const java: readonly FactsLanguage[] = ['java'];
const rust: readonly FactsLanguage[] = ['rust'];

/** Ends with a literal or with the name of a constant: what is copied has a length that is known here. */
const constantSource = ',\\s*(?:L?"(?:[^"\\\\]|\\\\[^])*"\\s*)+$|,\\s*[A-Z][A-Z0-9_]*\\s*$';
/** A literal format, and in it neither `%s` without a precision nor a pointer to a text of any length. */
const boundedFormat = '^[^"]*,\\s*"(?![^]*%[-+ #0\\d*]*(?:s|p[VdDE]))';
/** Calls a shell with a line that is the same every time. */
const constantCommand = '^\\s*(?:"(?:[^"\\\\]|\\\\[^])*"\\s*)+(?:,|$)';

export const securityRules: readonly SecurityRule[] = [
  // --- memory and numbers
  {
    ...{ id: 'unbounded-copy', languages: c, severity: 'high', cwe: 'CWE-120' },
    calls: ['strcpy', 'strcat', 'stpcpy', 'gets', 'wcscpy', 'wcscat'],
    unless: constantSource,
    text: 'copies without a bound',
  },
  {
    ...{ id: 'unbounded-copy', languages: c, severity: 'low', cwe: 'CWE-120' },
    calls: ['strcpy', 'strcat', 'stpcpy', 'wcscpy', 'wcscat'],
    when: constantSource,
    text: 'copies a constant without a bound',
  },
  {
    ...{ id: 'unbounded-format', languages: c, severity: 'medium', cwe: 'CWE-787' },
    calls: ['sprintf', 'vsprintf'],
    unless: boundedFormat,
    text: 'prints into a buffer without a bound',
  },
  {
    ...{ id: 'unbounded-format', languages: c, severity: 'low', cwe: 'CWE-787' },
    calls: ['sprintf'],
    when: boundedFormat,
    text: 'prints into a buffer whose size only its format respects',
  },
  {
    ...{ id: 'unterminated-copy', languages: c, severity: 'low', cwe: 'CWE-170' },
    calls: ['strncpy'],
    text: 'may end without a terminator',
  },
  {
    ...{ id: 'source-overread', languages: c, severity: 'low', cwe: 'CWE-126' },
    calls: ['strlcpy'],
    unless: ',\\s*(?:"|[A-Z][A-Z0-9_]*\\s*,)',
    text: 'reads its source to the end, beyond the bound',
  },
  {
    ...{ id: 'format-string', languages: c, severity: 'high', cwe: 'CWE-134' },
    calls: ['printf', 'printk', 'syslog', 'warn', 'vprintf'],
    when: '^\\s*[a-z_][\\w>.-]*\\s*$',
    outsideMacros: true,
    unlessConstant: true,
    text: 'takes its format from a variable',
  },
  {
    ...{ id: 'unchecked-number', languages: c, severity: 'low', cwe: 'CWE-190' },
    calls: ['atoi', 'atol', 'atoll', 'simple_strtoul', 'simple_strtol', 'simple_strtoull'],
    text: 'reads a number without noticing an overflow',
  },
  {
    ...{ id: 'size-product', languages: c, severity: 'medium', cwe: 'CWE-190' },
    calls: ['malloc', 'kmalloc', 'kzalloc', 'vmalloc', 'vzalloc', 'kvmalloc', 'alloca'],
    // A variable times a size, a size times a variable, or two variables; `sizeof *p` is no product.
    when:
      '^[^,]*(?:\\b(?!sizeof\\b)[a-z_][\\w.>-]{0,60}(?:\\[[^\\]]{0,60}\\])?\\s*\\*\\s*\\(?[a-z_]' +
      '|\\bsizeof\\s*\\([^()]*(?:\\([^()]*\\)[^()]*)?\\)\\s*\\*\\s*\\(?(?!sizeof\\b)[a-z_])' +
      '|^[^,a-z_]*[a-z_][^,]*\\)\\s*\\*\\s*\\(?sizeof\\b',
    text: 'allocates a product that may overflow',
  },
  {
    ...{ id: 'stack-allocation', languages: c, severity: 'medium', cwe: 'CWE-770' },
    calls: ['alloca', '__builtin_alloca'],
    text: 'takes a size from elsewhere off the stack',
  },
  {
    ...{ id: 'raw-free', languages: c, severity: 'info', cwe: 'CWE-244' },
    calls: ['kfree_sensitive', 'memzero_explicit', 'explicit_bzero', 'OPENSSL_cleanse'],
    text: 'clears memory so that nobody reads it later',
  },
  // --- borders of privilege
  {
    ...{ id: 'user-memory-read', languages: c, severity: 'medium', cwe: 'CWE-20' },
    calls: [
      ...['copy_from_user', 'get_user', '__get_user', '__copy_from_user', 'strncpy_from_user'],
      ...[
        'memdup_user',
        'memdup_user_nul',
        'vmemdup_user',
        'strndup_user',
        'copy_struct_from_user',
      ],
      ...['raw_copy_from_user', 'unsafe_get_user', 'copy_from_user_nofault', 'strnlen_user'],
    ],
    text: 'reads user memory',
  },
  {
    ...{ id: 'user-memory-read', languages: c, severity: 'medium', cwe: 'CWE-20' },
    calls: [
      ...['copy_from_iter', 'copy_from_iter_full', 'copy_from_sockptr', 'import_iovec'],
      ...['copy_from_sockptr_offset', 'memcpy_from_msg', 'copy_page_from_iter'],
    ],
    text: 'reads through an iterator or pointer that as a rule is of user memory',
  },
  {
    ...{ id: 'user-memory-write', languages: c, severity: 'medium', cwe: 'CWE-200' },
    calls: [
      ...['copy_to_user', '__copy_to_user', 'raw_copy_to_user', 'copy_to_user_nofault'],
      ...['__put_user', 'unsafe_put_user', 'unsafe_copy_to_user'],
    ],
    text: 'writes user memory',
  },
  {
    // One value of a type that is known, behind a check of the address.
    ...{ id: 'user-memory-write', languages: c, severity: 'low', cwe: 'CWE-200' },
    calls: ['put_user'],
    text: 'writes one value to user memory',
  },
  {
    ...{ id: 'user-memory-write', languages: c, severity: 'medium', cwe: 'CWE-200' },
    calls: ['copy_to_iter', 'copy_to_sockptr', 'copy_to_sockptr_offset', 'memcpy_to_msg'],
    text: 'writes through an iterator or pointer that as a rule is of user memory',
  },
  {
    ...{ id: 'privilege-check', languages: c, severity: 'info', cwe: 'CWE-862' },
    calls: [
      ...['capable', 'ns_capable', 'ns_capable_noaudit', 'file_ns_capable', 'perfmon_capable'],
      ...['netlink_capable', 'netlink_net_capable', 'netlink_ns_capable', 'bpf_capable'],
      ...['has_capability', 'capable_wrt_inode_uidgid', 'ptrace_may_access', 'inode_permission'],
      ...['checkpoint_restore_ns_capable', 'sk_ns_capable', 'sk_capable', 'geteuid'],
      ...['security_locked_down', 'inode_owner_or_capable', 'privileged_wrt_inode_uidgid'],
    ],
    text: 'asks whether this is allowed',
  },
  {
    ...{ id: 'security-hook', languages: c, severity: 'info', cwe: 'CWE-693' },
    calls: ['call_int_hook', 'call_void_hook', 'avc_has_perm', 'avc_has_perm_noaudit'],
    text: 'asks the security modules',
  },
  {
    ...{ id: 'identity-change', languages: c, severity: 'medium', cwe: 'CWE-250' },
    calls: [
      ...['setuid', 'seteuid', 'setgid', 'setegid', 'setreuid', 'setresuid', 'setgroups'],
      ...['commit_creds', 'prepare_kernel_cred', 'override_creds'],
    ],
    text: 'changes the credentials that it acts with',
  },
  {
    ...{ id: 'raw-hardware', languages: c, severity: 'low', cwe: 'CWE-119' },
    calls: ['remap_pfn_range', 'io_remap_pfn_range', 'vm_iomap_memory'],
    text: 'maps physical memory into a process',
  },
  {
    ...{ id: 'raw-hardware', languages: c, severity: 'low', cwe: 'CWE-250' },
    calls: ['iopl', 'ioperm'],
    text: 'asks for ports of the machine',
  },
  // --- commands and code
  {
    ...{ id: 'shell-command', languages: c, severity: 'high', cwe: 'CWE-78' },
    calls: ['system', 'popen', 'wordexp'],
    unless: constantCommand,
    text: 'hands a command line to a shell',
  },
  {
    ...{ id: 'shell-command', languages: c, severity: 'low', cwe: 'CWE-78' },
    calls: ['system', 'popen', 'wordexp'],
    when: constantCommand,
    text: 'hands a constant command line to a shell',
  },
  {
    ...{ id: 'program-start', languages: c, severity: 'medium', cwe: 'CWE-78' },
    calls: ['call_usermodehelper', 'call_usermodehelper_setup'],
    text: 'runs a program outside of the kernel, with all rights',
  },
  {
    ...{ id: 'shell-command', languages: es, severity: 'high', cwe: 'CWE-78' },
    calls: ['exec', 'execSync'],
    on: '^(?:|(?:\\w*child_?process|cp|childProcess))$',
    text: 'hands a command line to a shell',
  },
  {
    ...{ id: 'shell-option', languages: es, severity: 'high', cwe: 'CWE-78' },
    calls: ['spawn', 'spawnSync', 'execFile', 'execFileSync', 'fork'],
    when: '\\bshell\\s*:\\s*(?:true|[\'"])',
    text: 'starts a program through a shell',
  },
  {
    ...{ id: 'shell-command', languages: python, severity: 'high', cwe: 'CWE-78' },
    calls: ['system', 'popen', 'getoutput', 'getstatusoutput', 'popen2'],
    on: '^(?:os|commands|subprocess|popen2)$',
    text: 'hands a command line to a shell',
  },
  {
    ...{ id: 'shell-option', languages: python, severity: 'high', cwe: 'CWE-78' },
    calls: ['run', 'call', 'check_call', 'check_output', 'Popen'],
    when: '\\bshell\\s*=\\s*True',
    text: 'starts a program through a shell',
  },
  {
    ...{ id: 'shell-command', languages: go, severity: 'medium', cwe: 'CWE-78' },
    calls: ['Command', 'CommandContext'],
    on: '^exec$',
    when: '"(?:/bin/)?(?:ba|da|z)?sh"|"cmd(?:\\.exe)?"',
    text: 'hands a command line to a shell',
  },
  {
    ...{ id: 'program-start', languages: [...go, ...rust], severity: 'low', cwe: 'CWE-78' },
    calls: ['Command', 'CommandContext', 'new'],
    on: '^(?:exec|(?:\\w+::)*Command)$',
    text: 'runs another program',
  },
  {
    ...{ id: 'shell-command', languages: java, severity: 'high', cwe: 'CWE-78' },
    calls: ['exec'],
    on: 'Runtime|runtime',
    text: 'runs another program',
  },
  {
    ...{ id: 'code-evaluation', languages: es, severity: 'high', cwe: 'CWE-95' },
    calls: ['eval', 'Function'],
    // Others that are called so ask a server, or look something up in a page.
    on: '^(?:|window|self|global|globalThis)$',
    text: 'runs text as code',
  },
  {
    ...{ id: 'code-evaluation', languages: es, severity: 'high', cwe: 'CWE-95' },
    calls: ['runInThisContext', 'runInNewContext', 'compileFunction'],
    text: 'runs text as code',
  },
  {
    ...{ id: 'code-evaluation', languages: python, severity: 'high', cwe: 'CWE-95' },
    calls: ['eval', 'exec', 'execfile', 'compile'],
    on: '^$',
    text: 'runs text as code',
  },
  {
    ...{ id: 'script-evaluation', languages: java, severity: 'high', cwe: 'CWE-95' },
    calls: ['eval'],
    on: '^(?!.*(?:[rR]|[jJ])edis)',
    text: 'runs text as code',
  },
  // --- data that becomes something else
  {
    ...{ id: 'unsafe-deserialisation', languages: python, severity: 'high', cwe: 'CWE-502' },
    calls: ['load', 'loads', 'Unpickler', 'open'],
    on: '^(?:c?[pP]ickle|marshal|shelve|dill|jsonpickle)$',
    text: 'makes objects of data that can run code',
  },
  {
    ...{ id: 'unsafe-deserialisation', languages: python, severity: 'high', cwe: 'CWE-502' },
    calls: ['load', 'load_all'],
    on: '^yaml$',
    unless: 'Safe|Base',
    text: 'makes objects of data that can run code',
  },
  {
    ...{ id: 'unsafe-deserialisation', languages: java, severity: 'high', cwe: 'CWE-502' },
    calls: ['readObject', 'readUnshared', 'XMLDecoder', 'fromXML'],
    text: 'makes objects of data that can run code',
  },
  {
    ...{ id: 'unsafe-deserialisation', languages: es, severity: 'medium', cwe: 'CWE-502' },
    calls: ['deserialize', 'unserialize'],
    text: 'makes objects of data',
  },
  {
    ...{
      id: 'sql-composed',
      languages: [...es, ...python, ...go, ...java],
      severity: 'high',
      cwe: 'CWE-89',
    },
    calls: [
      ...['query', 'execute', 'executemany', 'executeQuery', 'executeUpdate', 'prepareStatement'],
      ...['raw', 'Query', 'QueryRow', 'Exec', 'ExecContext', 'QueryContext', '$queryRawUnsafe'],
    ],
    when: '^[^,]*(?:SELECT|INSERT|UPDATE|DELETE|select|insert|update|delete)\\b(?:[^]*\\$\\{|[^,]*["\'`]\\s*(?:\\+|%\\s*[(\\w]|\\.format\\())|^\\s*fmt\\.Sprintf|^f["\']',
    text: 'puts a query together out of parts',
  },
  {
    ...{ id: 'html-injection', languages: es, severity: 'medium', cwe: 'CWE-79' },
    calls: ['write', 'writeln'],
    on: '^document$',
    unless: '^\\s*["\'][^"\']*["\']\\s*$',
    text: 'puts text into a page as markup',
  },
  {
    ...{ id: 'html-injection', languages: es, severity: 'medium', cwe: 'CWE-79' },
    calls: ['insertAdjacentHTML', 'createContextualFragment'],
    unless: '^\\s*["\'][^"\']*["\']\\s*$',
    text: 'puts text into a page as markup',
  },
  {
    ...{ id: 'template-unescaped', languages: python, severity: 'medium', cwe: 'CWE-79' },
    calls: ['mark_safe', 'Markup', 'SafeString'],
    text: 'takes text for safe markup',
  },
  {
    ...{ id: 'template-unescaped', languages: go, severity: 'medium', cwe: 'CWE-79' },
    calls: ['HTML', 'JS', 'HTMLAttr'],
    on: '^template$',
    text: 'takes text for safe markup',
  },
  {
    ...{ id: 'xml-entities', languages: [...python, ...java], severity: 'medium', cwe: 'CWE-611' },
    calls: [
      'parse',
      'parseString',
      'fromstring',
      'iterparse',
      'newDocumentBuilder',
      'newSAXParser',
      'createXMLStreamReader',
    ],
    on: 'sax|minidom|etree|ElementTree|DocumentBuilderFactory|SAXParserFactory|XMLInputFactory|^factory$',
    text: 'reads XML, perhaps with external entities',
  },
  {
    ...{ id: 'pattern-from-data', languages: es, severity: 'low', cwe: 'CWE-1333' },
    calls: ['RegExp'],
    unless: '^\\s*["\'`/][^$]*$',
    text: 'makes a pattern out of data',
  },
  // --- secrets and ciphers
  {
    ...{
      id: 'weak-hash',
      languages: [...es, ...python, ...java, ...c],
      severity: 'medium',
      cwe: 'CWE-328',
    },
    calls: [
      'createHash',
      'createHmac',
      'getInstance',
      'new',
      'crypto_alloc_shash',
      'crypto_alloc_ahash',
    ],
    when: '^\\s*["\'](?:md[245]|MD[245]|sha-?1|SHA-?1|ripemd\\d*|RIPEMD\\d*)["\']',
    text: 'uses a hash that can be forged',
  },
  {
    ...{ id: 'weak-hash', languages: [...python, ...go], severity: 'medium', cwe: 'CWE-328' },
    calls: ['md5', 'sha1', 'New', 'Sum'],
    on: '^(?:hashlib|md5|sha1|md4)$',
    text: 'uses a hash that can be forged',
  },
  {
    ...{ id: 'weak-cipher', languages: [...es, ...java, ...c], severity: 'high', cwe: 'CWE-327' },
    calls: [
      ...['createCipheriv', 'createDecipheriv', 'createCipher', 'createDecipher', 'getInstance'],
      ...['crypto_alloc_skcipher', 'crypto_alloc_cipher'],
    ],
    when: '^\\s*["\'](?:(?:des|DES|rc[24]|RC[24]|arc4|ARCFOUR|[bB]lowfish|bf)\\b|[\\w-]*ecb|[\\w/()-]*/ECB|(?:ecb|cbc)\\((?:des|arc4)\\))',
    text: 'uses a cipher that can be broken',
  },
  {
    ...{ id: 'weak-cipher', languages: [...go, ...python], severity: 'high', cwe: 'CWE-327' },
    calls: ['NewCipher', 'NewTripleDESCipher', 'new'],
    on: '^(?:des|rc4|DES|ARC4|ARC2|Blowfish)$',
    text: 'uses a cipher that can be broken',
  },
  {
    ...{ id: 'predictable-random', languages: es, severity: 'low', cwe: 'CWE-338' },
    calls: ['random', 'pseudoRandomBytes'],
    on: '^(?:Math|crypto)$',
    text: 'makes numbers that can be guessed',
  },
  {
    ...{ id: 'predictable-random', languages: c, severity: 'low', cwe: 'CWE-338' },
    calls: ['rand', 'random', 'drand48', 'prandom_u32', 'prandom_bytes', 'prandom_u32_state'],
    text: 'makes numbers that can be guessed',
  },
  {
    ...{
      id: 'predictable-random',
      languages: [...python, ...go, ...java],
      severity: 'low',
      cwe: 'CWE-338',
    },
    calls: ['random', 'randint', 'randrange', 'choice', 'Intn', 'Int63', 'Int', 'Random'],
    on: '^(?:random|rand|)$',
    // `rand.Int(rand.Reader, max)` of Go is the other package of that name.
    unless: '^[^)]*(?:self|rand\\.Reader)',
    text: 'makes numbers that can be guessed',
  },
  {
    ...{ id: 'random-source', languages: c, severity: 'info', cwe: 'CWE-330' },
    calls: ['get_random_bytes', 'get_random_u32', 'get_random_u64', 'getrandom', 'arc4random'],
    text: 'takes numbers that cannot be guessed',
  },
  {
    ...{
      id: 'certificate-unchecked',
      languages: [...python, ...es],
      severity: 'high',
      cwe: 'CWE-295',
    },
    calls: [
      'get',
      'post',
      'put',
      'request',
      'connect',
      'Session',
      'create_default_context',
      'Agent',
      'delete',
    ],
    when: '\\bverify\\s*=\\s*False|rejectUnauthorized\\s*:\\s*false',
    text: 'trusts any certificate',
  },
  {
    ...{ id: 'certificate-unchecked', languages: python, severity: 'high', cwe: 'CWE-295' },
    calls: ['_create_unverified_context'],
    text: 'trusts any certificate',
  },
  {
    ...{ id: 'secret-compared', languages: c, severity: 'info', cwe: 'CWE-208' },
    calls: ['crypto_memneq', 'CRYPTO_memcmp', 'timingsafe_bcmp'],
    text: 'compares without telling by time',
  },
  // --- files
  {
    ...{ id: 'temporary-name', languages: [...c, ...python], severity: 'medium', cwe: 'CWE-377' },
    calls: ['tmpnam', 'tempnam', 'mktemp', 'tmpnam_r'],
    text: 'names a temporary file that somebody else may make first',
  },
  {
    ...{
      id: 'open-mode',
      languages: [...c, ...python, ...es, ...go],
      severity: 'medium',
      cwe: 'CWE-732',
    },
    // What makes a file or a folder is held back by the umask; what changes its mode is not.
    calls: ['chmod', 'fchmod', 'fchmodat', 'chmodSync', 'Chmod'],
    // `mode & ~S_IWOTH` takes it away.
    when: '(?<!~\\s{0,9}(?:\\([^()]{0,80})?(?:stat\\.)?)(?:\\b0o?(?:777|666)\\b|S_IRWXO|S_IWOTH)',
    text: 'lets everybody write',
  },
  {
    ...{ id: 'open-mode', languages: [...c, ...python], severity: 'medium', cwe: 'CWE-732' },
    calls: ['umask'],
    when: '^\\s*0+(?:o0+)?\\s*$',
    text: 'lets new files have any mode',
  },
  {
    ...{ id: 'check-then-use', languages: c, severity: 'low', cwe: 'CWE-367' },
    calls: ['access', 'faccessat'],
    on: '^$',
    when: '\\b[RWXF]_OK\\b',
    text: 'asks about a file that may be another when it is used',
  },
  {
    ...{ id: 'archive-path', languages: [...python, ...java], severity: 'medium', cwe: 'CWE-22' },
    calls: ['extractall', 'unpack_archive', 'getNextEntry'],
    unless: 'filter\\s*=',
    text: 'takes paths out of an archive',
  },
  // --- memory in languages that are safe by themselves
  {
    ...{ id: 'unchecked-memory', languages: rust, severity: 'medium', cwe: 'CWE-119' },
    calls: [
      ...['transmute', 'from_raw', 'from_raw_parts', 'from_raw_parts_mut', 'get_unchecked'],
      ...['get_unchecked_mut', 'from_utf8_unchecked', 'unwrap_unchecked', 'assume_init', 'set_len'],
    ],
    text: 'is safe only if the caller is right',
  },
  {
    ...{ id: 'unchecked-memory', languages: go, severity: 'medium', cwe: 'CWE-119' },
    calls: ['Pointer', 'Slice', 'SliceData', 'StringData'],
    on: '^unsafe$',
    text: 'goes around the type system',
  },
];
