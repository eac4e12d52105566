"use client";

import { Dialog as BaseDialog } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactNode, RefObject } from "react";
import { Key } from "@/components/console/key";

interface DialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly children: ReactNode;
  readonly wide?: boolean;
  readonly initialFocus?: RefObject<HTMLElement | null>;
}

/** A dialog with its title in the head. Focus is kept inside, Escape closes, and focus returns where it came from. */
export function Dialog({ open, onOpenChange, title, children, wide = false, initialFocus }: DialogProps) {
  return (
    <BaseDialog.Root open={open} onOpenChange={(next) => onOpenChange(next)}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="backdrop" />
        <BaseDialog.Popup className={wide ? "dialog sm:w-[620px]" : "dialog"} initialFocus={initialFocus}>
          <div className="dialog-head">
            <BaseDialog.Title className="flex-1 font-semibold">{title}</BaseDialog.Title>
            <DialogClose />
          </div>
          {children}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

/** A dialog without a head of its own: the palette, whose head is its input. */
export function BareDialog({ open, onOpenChange, title, children }: Omit<DialogProps, "wide">) {
  return (
    <BaseDialog.Root open={open} onOpenChange={(next) => onOpenChange(next)}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="backdrop" />
        <BaseDialog.Popup className="dialog overflow-hidden">
          <BaseDialog.Title className="sr-only">{title}</BaseDialog.Title>
          {children}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

/** The way out for whoever has a key that says so, and for whoever has only a finger. */
export function DialogClose() {
  return (
    <BaseDialog.Close className="btn btn-quiet btn-icon-sm" aria-label="Close">
      <X className="icon md:hidden" aria-hidden="true" />
      <span className="max-md:hidden">
        <Key>Esc</Key>
      </span>
    </BaseDialog.Close>
  );
}
