/** One line of a stack trace. */
export interface Frame {
  /** Of the function, as it is defined: without what compilers append. Empty: only the place is known. */
  symbol: string;
  /** As the report gives it; empty where it does not. */
  path: string;
  /** 0: not known. */
  line: number;
  /** Of the kernel: what the function was loaded with; else empty. */
  module: string;
  /** The unwinder was not sure of it. */
  isUncertain: boolean;
  /** Where the fault was, as the report says. */
  isFault: boolean;
}

/** More in one report repeat each other. */
export const framesMax = 200;

/** `? name+0x1f/0x90 [module]`; older ones: `name+1f/90`, `{name+31}`. */
const nativeFrame =
  /(\? {1,2})?([A-Za-z_.$][\w.$]{1,127})\+(?:0x[0-9a-f]{1,8}(?:\/0x[0-9a-f]{1,8})?|[0-9a-f]{1,6}(?:\/[0-9a-f]{1,6}|(?=\})))(?:[>}]? {1,2}\[([\w-]{1,64}))?/g;
/** Without the length of the function an address must stand before it. */
const addressedFrame =
  /\[<[0-9a-f]{6,16}>\] (\? )?([A-Za-z_.$][\w.$]{1,127})(?:\+0x[0-9a-f]{1,8})?(?: \[([\w-]{1,64}))?/g;
const atFault =
  /(?:\b(?:RIP|EIP|IP|PC|NIP|pc|epc)\b ?(?:is at|:|\[)|^BUG: |^WARNING: |^kernel BUG at )/;
const compilerSuffix = /\.(?:isra|constprop|part|cold|llvm|lto_priv|localalias)\b.*$/;

const pythonFrame = /^\s{0,12}File "([^"]{1,400})", line (\d{1,7})(?:, in ([\w.<>]{1,128}))?/;
const scriptFrame =
  /^\s{0,12}at (?:async )?(?:(?:new )?([\w$.<>[\] ]{1,160}?) )?\(?((?:file:\/\/)?[^\s()]{1,400}?\.[cm]?[jt]sx?):(\d{1,7})(?::\d{1,7})?\)?\s*$/;
const javaFrame = /^\s{0,12}at ([\w$.<>/@-]{1,300})\((\w{1,128}\.(?:java|kt|scala)):(\d{1,7})\)/;
const nativeDebugger =
  /^\s{0,4}#\d{1,4}\s{1,4}(?:0x[0-9a-f]{1,16} in )?([A-Za-z_~][\w:~<>]{0,200})(?: ?\([^)]{0,800}\))?(?: (?:at )?([^\s():]{1,400}\.\w{1,4}):(\d{1,7}))?/;
const goPlace = /^\s{1,8}(\S{1,400}\.go):(\d{1,7})(?: \+0x[0-9a-f]{1,8})?\s*$/;
const goFunction = /^([\w./-]{1,300}\.(?:\(\*?\w{1,128}\)\.)?([\w]{1,128}))(?:\.func\d+)*\(/;
const rustFunction =
  /^\s{1,6}\d{1,4}: (?:0x[0-9a-f]{1,16} - )?([\w:<>$ {}#]{1,300}?)(?:::h[0-9a-f]{16})?\s*$/;
const rustPlace = /^\s{2,24}at (\S{1,400}\.rs):(\d{1,7})(?::\d{1,7})?\s*$/;

/** Frames of one line; what stands on two lines is put together with the line before it. */
export function framesOf(text: string, before: string): Frame[] {
  const native = nativeFrames(text);
  if (native.length > 0) return native;
  const python = pythonFrame.exec(text);
  if (python !== null) return [placed(python[3], python[1], python[2])];
  const java = javaFrame.exec(text);
  if (java !== null) return [placed(java[1], java[2], java[3])];
  const script = scriptFrame.exec(text);
  if (script !== null) return [placed(script[1], script[2], script[3])];
  const go = goPlace.exec(text);
  if (go !== null) return [placed(goFunction.exec(before)?.[2], go[1], go[2])];
  const rust = rustPlace.exec(text);
  if (rust !== null) return [placed(rustFunction.exec(before)?.[1], rust[1], rust[2])];
  const debugged = nativeDebugger.exec(text);
  if (debugged !== null) return [placed(debugged[1], debugged[2], debugged[3])];
  return [];
}

/** Whether the innermost frame stands last. */
export function isInnermostLast(text: string): boolean {
  return pythonFrame.test(text);
}

function nativeFrames(text: string): Frame[] {
  if (!text.includes('+') && !text.includes('[<')) return [];
  const isFault = atFault.test(text);
  const sized = [...text.matchAll(nativeFrame)];
  const found = sized.length > 0 ? sized : [...text.matchAll(addressedFrame)];
  return found.map(([, doubt, name = '', module = '']) => ({
    ...placed(name, undefined, undefined),
    ...{ module, isUncertain: doubt !== undefined, isFault },
  }));
}

function placed(
  symbol: string | undefined,
  path: string | undefined,
  line: string | undefined,
): Frame {
  return {
    symbol: lastName(symbol ?? ''),
    path: (path ?? '').replace(/^file:\/\//, ''),
    line: Number(line ?? 0),
    ...{ module: '', isUncertain: false, isFault: false },
  };
}

/** `Bar.method` is defined as `method`; `<module>` and `<anonymous>` are not defined at all. */
function lastName(name: string): string {
  const plain = name.replace(compilerSuffix, '').replace(/ \[as .*$/, '');
  const last = /([A-Za-z_$~][\w$~]*)\s*$/.exec(plain)?.[1] ?? '';
  return /[<>]\s*$/.test(plain) || last === 'anonymous' ? '' : last;
}

/**
 * Functions that stand in every trace of a kernel: those that print it, enter the kernel, run work and
 * threads, or wait. The fault is not theirs.
 */
const generic = new Set(
  (
    'dump_stack dump_stack_lvl show_stack show_trace show_regs __warn warn_slowpath_common warn_slowpath_fmt ' +
    'warn_slowpath_null report_bug handle_bug fixup_bug panic die die_addr oops_end oops_begin no_context ' +
    'bad_area bad_area_nosemaphore __bad_area __bad_area_nosemaphore page_fault page_fault_oops ' +
    'do_page_fault __do_page_fault do_user_addr_fault do_kern_addr_fault exc_page_fault do_trap ' +
    'do_error_trap do_invalid_op invalid_op exc_invalid_op do_general_protection general_protection ' +
    'exc_general_protection do_int3 print_address_description print_report kasan_report ' +
    '__kasan_report kasan_check_range check_memory_region kasan_save_stack kasan_set_track ' +
    'kasan_record_aux_stack __kasan_kmalloc kasan_kmalloc kasan_slab_alloc kasan_slab_free __kasan_slab_free ' +
    'do_syscall_64 do_syscall_x64 syscall_exit_to_user_mode exit_to_user_mode_prepare ' +
    'exit_to_user_mode_loop do_fast_syscall_32 do_int80_syscall_32 entry_SYSCALL_64_after_hwframe ' +
    'entry_SYSCALL_64_fastpath entry_SYSCALL_64 entry_SYSENTER_compat system_call_fastpath sysenter_do_call ' +
    'ret_from_fork ret_from_fork_asm ret_from_kernel_thread kernel_thread_starter kthread worker_thread ' +
    'process_one_work process_scheduled_works kthread_worker_fn smpboot_thread_fn ' +
    'start_kernel secondary_startup_64 start_secondary cpu_startup_entry do_idle cpu_idle default_idle ' +
    'default_idle_call cpuidle_enter cpuidle_enter_state arch_call_rest_init x86_64_start_kernel ' +
    'x86_64_start_reservations kernel_init do_one_initcall kernel_init_freeable do_initcalls ' +
    'irq_exit irq_exit_rcu __irq_exit_rcu irq_enter do_IRQ common_interrupt __do_softirq do_softirq ' +
    'call_softirq __softirqentry_text_start handle_irq_event handle_irq_event_percpu ' +
    '__handle_irq_event_percpu handle_edge_irq handle_fasteoi_irq handle_level_irq handle_irq ' +
    'generic_handle_irq run_ksoftirqd apic_timer_interrupt smp_apic_timer_interrupt ' +
    '__schedule schedule preempt_schedule preempt_schedule_irq schedule_timeout io_schedule ' +
    'wait_for_completion wait_for_common __wait_for_common schedule_preempt_disabled ' +
    'nmi end_repeat_nmi nmi_handle default_do_nmi do_nmi exc_nmi watchdog_timer_fn nmi_cpu_backtrace ' +
    'trigger_load_balance el0_svc el0_svc_common el0_svc_handler el0_sync el0_sync_handler el0t_64_sync ' +
    'el0t_64_sync_handler el1_irq el1h_64_irq el1h_64_sync do_el0_svc invoke_syscall ' +
    'dump_backtrace __switch_to vfs_read vfs_write ksys_read ksys_write __x64_sys_read __x64_sys_write ' +
    'do_init_module load_module __do_sys_finit_module __do_sys_init_module __x64_sys_finit_module'
  ).split(' '),
);

/** Whether the frame says nothing about where the fault is. */
export function isGeneric({ symbol }: Frame): boolean {
  return generic.has(symbol) || /^(?:asm_|__x64_sys_|__ia32_sys_|__se_sys_|__do_sys_)/.test(symbol);
}
