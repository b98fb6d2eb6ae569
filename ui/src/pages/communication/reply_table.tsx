// A table of an answer as a card.
import type { MetricReply } from "../../api_types";
import { DataTable } from "../../table/data_table";
import { localSource } from "../../table/source";
import { Card, tableOf } from "../parts";

/** A table of an answer as it is, if it has rows. */
export function ReplyTable({ reply, table, title, name, height }: { reply: MetricReply | null; table: string; title: string; name: string; height?: number }) {
  const found = tableOf(reply, table);
  if (found.rows.length === 0) return null;
  return (
    <Card title={title} definition={reply?.definition}>
      <DataTable name={name} source={localSource(`${name}/${JSON.stringify(found.rows[0])}`, found.columns, found.rows)} height={height ?? Math.min(320, 90 + found.rows.length * 24)} />
    </Card>
  );
}
