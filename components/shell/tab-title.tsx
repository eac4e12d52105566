"use client";

import { useEffect } from "react";
import { useOpenCount } from "./use-open-count";

/** The number of open tickets stands in the tab's title, before the page's own. */
export function TabTitle() {
  const count = useOpenCount();
  useEffect(() => {
    const write = () => {
      const bare = document.title.replace(/^\(\d+\+?\) /, "");
      const wanted = count === null ? bare : `(${count}) ${bare}`;
      if (document.title !== wanted) document.title = wanted;
    };
    write();
    // A navigation writes the next page's title; the count is put before that one too.
    const head = new MutationObserver(write);
    head.observe(document.head, { subtree: true, childList: true, characterData: true });
    return () => head.disconnect();
  }, [count]);
  return null;
}
