// The same collective, or the k-th slice of the same name, on every rank: when it began there and how long it took.
import { useState } from "preact/hooks";
import type { Peer, SliceDetail } from "../../api_types";
import { largest, smallest } from "../../charts/ticks";
import { formatDuration } from "../../format";
import { t } from "../../i18n";
import { useLoad } from "../../widgets/async";
import type { TimelineModel } from "../model";
import { goTo } from "../selecting";

/** Rows shown at first; the ends of the list tell most. */
const kMost = 64;

interface Props {
  model: TimelineModel;
  detail: SliceDetail;
}

function PeerRow({ peer, first, span, here, onGo }: { peer: Peer; first: number; span: number; here: boolean; onGo(): void }) {
  const share = (ns: number) => `${(100 * ns) / Math.max(1, span)}%`;
  return (
    <tr class={here ? "on" : ""}>
      <th>
        <button class="link" onClick={onGo}>
          {`${t("rank")} ${peer.rank}`}
        </button>
      </th>
      <td class="num">{`+ ${formatDuration(peer.begin - first)}`}</td>
      <td class="num">{formatDuration(peer.dur)}</td>
      <td class="peer-bar">
        <i class={peer.is_last ? "last" : ""} style={{ left: share(peer.begin - first), width: `max(1px, ${share(peer.dur)})` }} />
      </td>
      <td class="muted">{peer.is_last ? t("tl.peers.last") : ""}</td>
    </tr>
  );
}

function List({ model, detail }: Props) {
  const loaded = useLoad((signal) => model.ds.peers(detail.track, detail.i, signal), [detail.track, detail.i, model.ds.align]);
  if (loaded.error) return <p class="muted">{loaded.error instanceof Error ? loaded.error.message : String(loaded.error)}</p>;
  if (!loaded.data) return <p class="muted">{t("loading")}</p>;
  const { slices, missing } = loaded.data;
  const first = smallest(slices.map((peer) => peer.begin), Infinity);
  const span = largest(slices.map((peer) => peer.begin + peer.dur), -Infinity) - first;
  const pin = () => {
    const paths = slices.flatMap((peer) => model.tree.byId.get(peer.track)?.path ?? []);
    model.arrange({ pinned: [...new Set([...model.lanes.value.pinned, ...paths])] });
  };
  return (
    <>
      <table class="plain peers">
        <tbody>
          {slices.slice(0, kMost).map((peer) => (
            <PeerRow key={peer.rank} peer={peer} first={first} span={span} here={peer.track === detail.track && peer.i === detail.i} onGo={() => goTo(model, peer)} />
          ))}
        </tbody>
      </table>
      {slices.length > kMost && <p class="muted">{t("tl.peers.more", { n: slices.length - kMost })}</p>}
      {missing.length > 0 && <p class="muted">{t("tl.peers.missing", { ranks: missing.map(({ rank }) => rank).join(", ") })}</p>}
      <div class="row">
        <button onClick={pin}>{t("tl.peers.pin")}</button>
      </div>
    </>
  );
}

/** Asked for by hand: on a job of many ranks all of them have to be looked at. */
export function Peers({ model, detail }: Props) {
  const [open, setOpen] = useState(false);
  if (model.tree.roots.length < 2) return null;
  return (
    <section>
      <button class="toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
        {t("tl.peers")}
      </button>
      {open && <List model={model} detail={detail} />}
    </section>
  );
}
