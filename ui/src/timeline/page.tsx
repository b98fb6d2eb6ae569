import type { PageProps } from "../pages/registry";

export default function TimelinePage({ meta }: PageProps) {
  return <p class="pad">{meta.name}</p>;
}
