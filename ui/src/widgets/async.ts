// Loading from a component: the result follows its inputs, and an answer that comes too late is dropped.
import { useEffect, useState } from "preact/hooks";
import { isAbort } from "../api";

export interface Loaded<R> {
  data: R | null;
  error: unknown;
  busy: boolean;
  reload(): void;
}

/**
 * Calls `load` whenever one of `deps` changes and gives up the call before it. While a new answer is awaited `data` is still the one before;
 * `load` returning null means that there is nothing to ask for.
 */
export function useLoad<R>(load: (signal: AbortSignal) => Promise<R> | null, deps: unknown[]): Loaded<R> {
  const [state, setState] = useState<{ data: R | null; error: unknown; busy: boolean }>({
    data: null,
    error: null,
    busy: true,
  });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const control = new AbortController();
    const wanted = load(control.signal);
    if (!wanted) {
      setState({ data: null, error: null, busy: false });
      return;
    }
    setState((before) => ({ ...before, busy: true }));
    wanted.then(
      (data) => {
        if (!control.signal.aborted) setState({ data, error: null, busy: false });
      },
      (error: unknown) => {
        if (!control.signal.aborted && !isAbort(error)) setState({ data: null, error, busy: false });
      },
    );
    return () => control.abort();
  }, [...deps, attempt]);
  return { ...state, reload: () => setAttempt((n) => n + 1) };
}
