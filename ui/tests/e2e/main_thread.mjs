// What the page's main thread does, from a trace of the browser: tasks between one frame and the next.

const kCategories = ["devtools.timeline", "disabled-by-default-devtools.timeline"];

/** Runs `act` and returns the trace events of the whole browser. */
async function trace(browser, act) {
  const session = await browser.newBrowserCDPSession();
  const events = [];
  session.on("Tracing.dataCollected", (part) => events.push(...part.value));
  const complete = new Promise((resolve) => session.on("Tracing.tracingComplete", resolve));
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories: kCategories },
  });
  await act();
  await session.send("Tracing.end");
  await complete;
  await session.detach();
  return events;
}

/** The thread that fired most animation frames. */
function mainThread(events) {
  const count = new Map();
  for (const { name, pid, tid } of events)
    if (name === "FireAnimationFrame") count.set(`${pid}/${tid}`, (count.get(`${pid}/${tid}`) ?? 0) + 1);
  return [...count].sort((a, b) => b[1] - a[1])[0]?.[0];
}

/** Runs `act`; per frame the wall and CPU time in ms of the main thread's tasks, from a frame's beginning to the next one's. */
export async function frameTimes(browser, act) {
  const events = await trace(browser, act);
  const thread = mainThread(events);
  const own = events.filter((event) => `${event.pid}/${event.tid}` === thread);
  const begins = own
    .filter((event) => event.name === "FireAnimationFrame")
    .map((event) => event.ts)
    .sort((a, b) => a - b);
  const frames = begins.map(() => ({ wall_ms: 0, cpu_ms: 0 }));
  for (const event of own) {
    if (event.name !== "RunTask" || event.ph !== "X") continue;
    // The task that fires the frame begins before it.
    const next = begins.findIndex((begin) => begin > event.ts + event.dur);
    const at = (next < 0 ? begins.length : next) - 1;
    if (at < 0) continue;
    frames[at].wall_ms += event.dur / 1000;
    frames[at].cpu_ms += (event.tdur ?? event.dur) / 1000;
  }
  return frames.slice(0, -1);
}
