import type { CodeFamily, CodeView } from './code-view.js';

/** What code does beyond computing: each of it can fail, wait, run full or be refused. */
export const effectKinds = [
  'network',
  'process',
  'file',
  'memory',
  'lock',
  'wait',
  'hardware',
  'user-memory',
  'parse',
  'environment',
  'arguments',
] as const;
export type EffectKind = (typeof effectKinds)[number];

export interface Effect {
  kind: EffectKind;
  /** What is called, as it is written. */
  call: string;
  line: number;
}

/** Of one kind in one text. */
const perKindMax = 50;

/** How a kind is spoken of, and the words by which a text speaks of what can go wrong with it. */
export const aboutEffect: Readonly<
  Record<EffectKind, { does: string; fails: string; words: RegExp }>
> = {
  network: {
    does: 'talks over a network',
    fails: 'the other side does not answer, answers late, or goes away',
    words:
      /\b(?:time-?outs?|timed? out|deadlines?|retr(?:y|ies|ied)|disconnect\w*|reconnect\w*|unreachable|refused|back-?off|latency|goes? away)\b/i,
  },
  process: {
    does: 'starts processes',
    fails: 'the process does not start, hangs, is killed, or ends with an error',
    words:
      /\b(?:exit (?:code|status)|exits?|kill(?:ed|s)?|signals?|time-?outs?|deadlines?|hangs?|zombie|crash\w*|respawn\w*|restart\w*|ends)\b/i,
  },
  file: {
    does: 'reads or writes files',
    fails: 'the file is not there, may not be opened, is too large, or the disk is full',
    words:
      /\b(?:permissions?|disk (?:is )?full|ENOSPC|EACCES|ENOENT|not there|absent|too large|unreadable|symbolic links?|symlinks?|corrupt\w*|damaged|half-?written|atomic\w*|fsync|outside (?:of )?the root)\b/i,
  },
  memory: {
    does: 'allocates memory',
    fails: 'there is no memory',
    words:
      /\b(?:out of memory|OOM|ENOMEM|no memory|allocation fail\w*|memory pressure|exhaust\w*)\b/i,
  },
  lock: {
    does: 'takes locks',
    fails: 'the lock is held, is taken in another order, or is not given back',
    words:
      /\b(?:deadlock\w*|contention|contended|locking|lock order|lock hierarchy|locks?|races?|starv\w*|atomic context|sleep\w*)\b/i,
  },
  wait: {
    does: 'waits for something',
    fails: 'what is waited for never comes',
    words: /\b(?:time-?outs?|deadlines?|interrupt\w*|wakes?|woken|hangs?|never comes|sleep\w*)\b/i,
  },
  hardware: {
    does: 'talks to hardware',
    fails: 'the device does not answer, or is gone',
    words:
      /\b(?:unplug\w*|hot-?plug\w*|removed|time-?outs?|suspend\w*|resume\w*|error recovery|interrupts?|reset|DMA)\b/i,
  },
  'user-memory': {
    does: 'takes data from or gives it to user space',
    fails: 'the address is wrong, or the data are hostile or change while they are read',
    words:
      /\b(?:EFAULT|EINVAL|EPERM|untrusted|hostile|malicious|privileg\w*|capabilit\w*|CAP_\w+|permissions?|validat\w*|access_ok|copy_from_user|copy_to_user)\b/i,
  },
  parse: {
    does: 'reads data in a format',
    fails: 'what is read is malformed, cut off, or far too large',
    words:
      /\b(?:malformed|invalid|corrupt\w*|damaged|truncat\w*|validat\w*|schema|refused|rejected|too large|half|cut off|bad input|syntax)\b/i,
  },
  environment: {
    does: 'reads the environment',
    fails: 'a variable is missing, empty or wrong',
    words:
      /\b(?:unset|default\w*|missing|empty|required|environment|variables?|configur\w*|settings?)\b/i,
  },
  arguments: {
    does: 'reads the arguments of its command line',
    fails: 'an argument is missing, unknown or wrong',
    words: /\b(?:usage|unknown|required|invalid|default\w*|arguments?|options?|flags?|--\w+)\b/i,
  },
};

type Table = Partial<Record<EffectKind, RegExp>>;

/** Calls that stand for themselves, whatever a file imports. */
const calls: Readonly<Record<CodeFamily, Table>> = {
  es: {
    network: /(?<![.\w$#])fetch\s*\(|\bnew\s+WebSocket\s*\(/g,
    parse: /\bJSON\.parse\s*\(/g,
    environment: /\bprocess\.env\b/g,
    arguments: /\bprocess\.argv\b/g,
  },
  python: {
    network:
      /\b(?:requests\.(?:get|post|put|delete|head|patch|request)|urlopen|socket\.(?:socket|create_connection)|http\.client\.\w+)\s*\(/g,
    process:
      /\b(?:subprocess\.(?:run|call|check_call|check_output|Popen)|os\.(?:system|popen|fork|exec\w+))\s*\(/g,
    file: /(?<![.\w])open\s*\(|\b(?:os\.(?:open|remove|unlink|rename|replace|mkdir|makedirs|rmdir)|shutil\.\w+)\s*\(|\.(?:read_text|write_text|read_bytes|write_bytes)\s*\(/g,
    parse: /\b(?:json|yaml|pickle|marshal|toml|tomllib)\.(?:load|loads|safe_load)\s*\(/g,
    environment: /\bos\.(?:environ|getenv)\b/g,
    arguments: /\bsys\.argv\b|\bargparse\.ArgumentParser\s*\(/g,
    lock: /\b(?:threading\.)?R?Lock\s*\(\s*\)/g,
  },
  c: {
    network:
      /(?<![.\w>])(?:socket|connect|accept4?|bind|listen|recv|recvfrom|recvmsg|sendto|sendmsg|kernel_(?:connect|accept|sendmsg|recvmsg)|sock_create\w*)\s*\(/g,
    process:
      /(?<![.\w>])(?:fork|vfork|execv[pe]?|execl[pe]?|execve|system|popen|posix_spawnp?|call_usermodehelper\w*|kthread_(?:run|create))\s*\(/g,
    file: /(?<![.\w>])(?:fopen|fdopen|fread|fwrite|filp_open|kernel_read|kernel_write|openat|mkstemp|unlink|rename)\s*\(/g,
    memory:
      /(?<![.\w>])(?:k[mz]alloc\w*|kcalloc\w*|kv[mz]alloc\w*|kvcalloc|vmalloc\w*|vzalloc\w*|malloc|calloc|realloc|strdup|kstrdup\w*|kmem_cache_z?alloc\w*|devm_k\w*alloc\w*|alloc_pages?\w*|__get_free_pages?|get_zeroed_page|alloc_skb\w*)\s*\(/g,
    lock: /(?<![.\w>])(?:mutex_lock\w*|spin_lock\w*|raw_spin_lock\w*|read_lock\w*|write_lock\w*|down(?:_read|_write)?(?:_\w+)?|rcu_read_lock\w*|pthread_mutex_lock|rtnl_lock|lock_sock\w*)\s*\(/g,
    wait: /(?<![.\w>])(?:wait_event\w*|wait_for_completion\w*|msleep\w*|schedule_timeout\w*|flush_work\w*|cancel_work_sync|synchronize_rcu|select|poll|epoll_wait|pthread_join|waitpid)\s*\(/g,
    hardware:
      /(?<![.\w>])(?:ioremap\w*|readb|readw|readl|readq|writeb|writew|writel|writeq|inb|inw|inl|outb|outw|outl|ioread\d+\w*|iowrite\d+\w*|request_irq|request_threaded_irq|dma_alloc_\w+|dma_map_\w+|pci_enable_device\w*|usb_control_msg|i2c_transfer|spi_sync)\s*\(/g,
    'user-memory':
      /(?<![.\w>])(?:_*copy_(?:from|to)_user\w*|_*get_user|_*put_user|strncpy_from_user|strndup_user|memdup_user\w*|copy_(?:from|to)_iter\w*|copy_from_sockptr\w*|clear_user|iov_iter_zero)\s*\(/g,
    environment: /(?<![.\w>])(?:secure_)?getenv\s*\(/g,
    arguments: /(?<![.\w>])getopt(?:_long\w*)?\s*\(|\bargv\s*\[/g,
  },
  go: {
    network:
      /\b(?:net\.(?:Dial\w*|Listen\w*)|http\.(?:Get|Post|Head|PostForm|ListenAndServe\w*))\s*\(/g,
    process: /\bexec\.Command(?:Context)?\s*\(/g,
    file: /\b(?:os\.(?:Open|OpenFile|Create|ReadFile|WriteFile|Remove|RemoveAll|Rename|Mkdir|MkdirAll)|ioutil\.\w+)\s*\(/g,
    parse: /\b(?:json|xml|yaml|toml|gob)\.(?:Unmarshal|NewDecoder)\s*\(/g,
    lock: /\.(?:R?Lock)\s*\(\s*\)/g,
    environment: /\bos\.(?:Getenv|LookupEnv)\s*\(/g,
    arguments: /\bos\.Args\b|\bflag\.Parse\s*\(/g,
  },
  java: {
    network: /\bnew\s+(?:Server)?Socket\s*\(|\.openConnection\s*\(|\bHttpClient\b/g,
    process: /\bnew\s+ProcessBuilder\s*\(|\bRuntime\.getRuntime\s*\(/g,
    file: /\bnew\s+File(?:Input|Output)Stream\s*\(|\bnew\s+File(?:Reader|Writer)\s*\(|\bFiles\.\w+\s*\(/g,
    parse: /\.readObject\s*\(|\bObjectMapper\b|\.readValue\s*\(/g,
    environment: /\bSystem\.getenv\s*\(/g,
    lock: /\bsynchronized\s*\(|\.lock\s*\(\s*\)/g,
  },
  rust: {
    network: /\b(?:TcpStream|TcpListener|UdpSocket|UnixStream)::\w+\s*\(/g,
    process: /\bCommand::new\s*\(/g,
    file: /\b(?:File::(?:open|create)|fs::\w+|OpenOptions::new)\s*\(/g,
    parse: /\bserde_\w+::from_\w+\s*[(:]/g,
    lock: /\.lock\s*\(\s*\)/g,
    environment: /\benv::vars?\s*\(/g,
    arguments: /\benv::args\s*\(/g,
  },
};

/** Modules of Node whose functions mean something wherever they are called. */
const nodeModules: readonly (readonly [name: RegExp, kind: EffectKind])[] = [
  [/^(?:node:)?fs(?:\/promises)?$/, 'file'],
  [/^(?:node:)?child_process$/, 'process'],
  [/^(?:node:)?(?:net|https?|http2|tls|dgram)$/, 'network'],
];
const importing =
  /\bimport\s+(?:\*\s+as\s+([\w$]{1,80})|([\w$]{1,80})|\{([^{}]{0,2000})\})\s+from\s+['"]([^'"\n]{1,80})['"]/g;
/** Of `fs`, what neither opens nor changes anything. */
const harmless = /^(?:constants|Stats|Dirent|isAbsolute|FileHandle|StatsBase)$|^[A-Z]/;

/** Every effect of a text, in order of the text, bounded. Reads masked code: what comments and strings say is none. */
export function effectsIn(view: CodeView): Effect[] {
  const found: Effect[] = [];
  const collect = (kind: EffectKind, pattern: RegExp): void => {
    let count = 0;
    for (const match of view.code.matchAll(pattern)) {
      if ((count += 1) > perKindMax) break;
      const call = match[0]
        .replace(/\s*\($/, '')
        .replace(/\s+/g, ' ')
        .trim();
      found.push({ kind, call, line: view.lineOf(match.index) });
    }
  };
  for (const kind of effectKinds) {
    const pattern = calls[view.family][kind];
    if (pattern !== undefined) collect(kind, pattern);
  }
  if (view.family === 'es')
    for (const [kind, pattern] of importedEffects(view.text)) collect(kind, pattern);
  return found.sort((one, other) => one.line - other.line || (one.kind < other.kind ? -1 : 1));
}

function importedEffects(text: string): [EffectKind, RegExp][] {
  const patterns: [EffectKind, RegExp][] = [];
  for (const [, space, standard, list = '', module = ''] of text.matchAll(importing)) {
    const kind = nodeModules.find(([name]) => name.test(module))?.[1];
    if (kind === undefined) continue;
    const whole = space ?? standard;
    if (whole !== undefined) {
      const name = escaped(whole);
      patterns.push([kind, new RegExp(`(?<![.\\w$#])${name}(?:\\.\\w+){1,2}\\s*\\(`, 'g')]);
      continue;
    }
    const names = list
      .split(',')
      .map(
        (each) =>
          each
            .trim()
            .split(/\s+as\s+/)
            .at(-1) ?? '',
      )
      .filter((each) => /^[\w$]+$/.test(each) && !harmless.test(each))
      .map(escaped);
    if (names.length > 0)
      patterns.push([kind, new RegExp(`(?<![.\\w$#])(?:${names.join('|')})\\s*\\(`, 'g')]);
  }
  return patterns;
}

export function escaped(name: string): string {
  return name.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
