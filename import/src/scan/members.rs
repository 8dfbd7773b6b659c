//! The members of a record that an index needs, as raw values.

use super::raw::Raw;

macro_rules! members {
    (
        record { $($slot:ident $field:ident $name:literal $meaning:literal;)* }
        message { $($message_slot:ident $message_field:ident $message_name:literal $message_meaning:literal;)* }
    ) => {
        /// The raw values of the members that the formats name, if the record has them.
        ///
        /// The last of repeated members counts, as in `JSON.parse`; this includes a repeated `message` as a whole.
        /// Names may be written with escapes.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Members<'a> {
            $(#[doc = $meaning] pub $field: Option<Raw<'a>>,)*
            $(#[doc = $message_meaning] pub $message_field: Option<Raw<'a>>,)*
        }

        /// A place in [`Members`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Slot {
            $($slot,)*
            $($message_slot,)*
        }

        impl Slot {
            /// The place of a member of the record.
            #[inline]
            pub(super) fn of_record(name: &[u8]) -> Option<Self> {
                match name {
                    $($name => Some(Self::$slot),)*
                    _ => None,
                }
            }

            /// The place of a member of the record's `message`.
            #[inline]
            pub(super) fn of_message(name: &[u8]) -> Option<Self> {
                match name {
                    $($message_name => Some(Self::$message_slot),)*
                    _ => None,
                }
            }
        }

        impl<'a> Members<'a> {
            #[inline]
            pub(super) fn set(&mut self, slot: Slot, raw: Raw<'a>) {
                match slot {
                    $(Slot::$slot => self.$field = Some(raw),)*
                    $(Slot::$message_slot => self.$message_field = Some(raw),)*
                }
            }

            /// Forgets the members of an earlier `message`.
            pub(super) fn clear_message(&mut self) {
                $(self.$message_field = None;)*
            }
        }
    };
}

members! {
    record {
        Type entry_type b"type" "`type`: the kind of record.";
        Id id b"id" "`id`: of the entry, or of the session on a header.";
        ParentId parent_id b"parentId" "`parentId`: the entry's parent; null on a root.";
        Timestamp timestamp b"timestamp" "`timestamp`: ISO text.";
        Version version b"version" "`version`: of the format, on a header.";
        Cwd cwd b"cwd" "`cwd`: the working folder, on a header.";
        Title title b"title" "`title`: on an omp header or title line.";
        TitleSource title_source b"titleSource" "`titleSource`: on an omp header.";
        ParentSession parent_session b"parentSession" "`parentSession`: lineage, on a header.";
        Name name b"name" "`name`: of a `session_info`.";
        TargetId target_id b"targetId" "`targetId`: the entry a label is on.";
        Label label b"label" "`label`: its text; null, empty or absent clears it.";
        FirstKeptEntryId first_kept_entry_id b"firstKeptEntryId" "`firstKeptEntryId`: of a compaction.";
        FirstKeptEntryIndex first_kept_entry_index b"firstKeptEntryIndex" "`firstKeptEntryIndex`: of a version 1 compaction.";
        ThinkingLevel thinking_level b"thinkingLevel" "`thinkingLevel`: of a `thinking_level_change`.";
        Provider provider b"provider" "`provider`: of a pi `model_change`.";
        ModelId model_id b"modelId" "`modelId`: of a pi `model_change`.";
        Model model b"model" "`model`: of an omp `model_change`.";
        Role role b"role" "`role`: of an omp `model_change`, not of a message.";
        Mode mode b"mode" "`mode`: of a `mode_change`.";
        Data data b"data" "`data`: of a `mode_change` or `custom` entry.";
        InjectedRules injected_rules b"injectedRules" "`injectedRules`: of a `ttsr_injection`.";
        Summary summary b"summary" "`summary`: of a compaction or branch summary.";
        ShortSummary short_summary b"shortSummary" "`shortSummary`: of an omp compaction.";
        CustomType custom_type b"customType" "`customType`: of a custom entry or message.";
        FromExtension from_extension b"fromExtension" "`fromExtension`: omp's mark on summaries.";
        FromHook from_hook b"fromHook" "`fromHook`: pi's mark on summaries.";
        Pad pad b"pad" "`pad`: filler of an omp title line.";
        Usage usage b"usage" "`usage`: what a summary or a call outside the conversation has used.";
        Message message b"message" "`message`: the whole message.";
    }
    message {
        MessageRole message_role b"role" "`message.role`.";
        MessageProvider message_provider b"provider" "`message.provider`.";
        MessageModel message_model b"model" "`message.model`.";
        MessageContent message_content b"content" "`message.content`: text, or an array of blocks.";
        MessageTimestamp message_timestamp b"timestamp" "`message.timestamp`: milliseconds since 1970.";
        MessageUsage message_usage b"usage" "`message.usage`: of an answer of the model.";
    }
}
